"""Batches of a data set: in order, shuffled, the last one shorter; a data set of one's own."""

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split

x, y = torch.arange(10.0).reshape(5, 2), torch.tensor([0, 1, 0, 1, 1])
both = TensorDataset(x, y)
loader = DataLoader(both, batch_size=2)


class Squares(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, i):
        return {"x": torch.tensor([float(i)]), "y": i * i}


torch.manual_seed(0)
shuffled = DataLoader(both, batch_size=5, shuffle=True)
first, again = next(iter(shuffled))[0], next(iter(shuffled))[0]
parts = random_split(both, [3, 2])
own = next(iter(DataLoader(Squares(), batch_size=4)))
answers = {
    "lengths": [len(both), len(loader), len(DataLoader(both, batch_size=2, drop_last=True))],
    "batches": [[a.tolist(), b.tolist()] for a, b in loader],
    "one": [both[1][0], both[1][1]],
    "shuffled": sorted(first[:, 0].tolist()),
    "anew": first.tolist() != again.tolist(),
    "parts": sorted(p[i][0][0].item() for p in parts for i in range(len(p))),
    "shares": [len(p) for p in random_split(both, [0.5, 0.5])],
    "own": [own["x"].shape, own["y"].tolist()],
    "by default": next(iter(DataLoader(both)))[0].shape,
}
