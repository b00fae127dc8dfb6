"""What tests/spellings.py says of PyTorch is what PyTorch says."""

from __future__ import annotations

import pytest
import torch
from spellings import LINES, asked, show

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("line", LINES)
@pytest.mark.filterwarnings("ignore:Implicit dimension choice")
def test_pytorch_answers_so(line: str) -> None:
    try:
        answer = show(asked(line, torch, torch.nn.functional, torch.tensor))
    except (RuntimeError, TypeError, ValueError, IndexError):
        answer = "refused"
    assert answer == LINES[line]
