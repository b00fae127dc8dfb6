"""Every sentence the engine can say, one row with both languages, and the choice of language.

A row is `key: (English, 中文)`; both halves hold the same `{fields}`. `say` fills them in.
`viz.text` adds the rows of what is shown on a page; the language chosen here holds for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "zh", "both"]
Pair = tuple[str, str]

_language: Language = "en"


def get_language() -> Language:
    """The language that messages are written in: "en", "zh" or "both"."""
    return _language


def set_language(language: Language) -> None:
    """Choose the language of messages: "en", "zh" or "both"; anything else is a ValueError."""
    global _language
    if language not in ("en", "zh", "both"):
        raise ValueError(f'language is "en", "zh" or "both", not {language!r}')
    _language = language


def choose(pair: Pair, separator: str = "\n") -> str:
    """The half of a pair that the chosen language asks for, or both halves."""
    return {"en": pair[0], "zh": pair[1], "both": separator.join(pair)}[_language]


def fill(key: str, /, **fields: object) -> Pair:
    """The row of `key` with its fields filled in, in both languages."""
    english, chinese = ERRORS[key]
    if "name" in fields and str(fields["name"]) == str(fields.get("op")):  # it has no other name
        english = english.replace("{name} ({op}, ", "{name} (").replace("{name} ({op})", "{name}")
        chinese = chinese.replace("{name}（{op}，", "{name}（").replace(
            "{name}（{op}）：", "{name}："
        )
        chinese = chinese.replace("{name}（{op}）", "{name} ")
    return fill_pair((english, chinese), fields)


def one_line(text: str) -> str:
    """A name or other text of a user's as it stands in a line: what is no print is escaped.

    >>> print(one_line("a\\nb"))
    a\\nb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Count(int):
    """A number that can be written with what it counts: `{steps:step}` is "1 step" or "3 steps"."""

    def __format__(self, noun: str) -> str:
        if len(noun) < 2 or not noun.isalpha():  # an ordinary format such as "d" or ","
            return format(int(self), noun)
        return f"{int(self)} {noun}" if self == 1 else f"{int(self)} {noun}s"


def fill_pair(pair: Pair, fields: Mapping[str, object]) -> Pair:
    """Both halves filled in; a field that is itself a pair of sentences gives each its own half.

    >>> fill_pair(
    ...     ("{steps:step} and {done:step}", "{steps} 步和 {done} 步"), {"steps": 1, "done": 2}
    ... )
    ('1 step and 2 steps', '1 步和 2 步')
    """
    english, chinese = (
        half.format(**{name: _half(value, i) for name, value in fields.items()})
        for i, half in enumerate(pair)
    )
    return english, chinese


def _half(value: object, which: int) -> object:
    pair = isinstance(value, tuple) and len(value) == 2 and all(isinstance(x, str) for x in value)
    if pair and isinstance(value, tuple):
        return value[which]
    return Count(value) if type(value) is int else value


ERRORS: dict[str, Pair] = {
    # where things happened
    "defined_at": ("  defined at {where}", "  定义于 {where}"),
    "run_at": ("  run at {where}", "  运行于 {where}"),
    # shapes and types
    "broadcast": (
        "{op}: shapes {shapes} do not fit together. Compared from the right, two axes fit when "
        "their lengths are equal or one of them is 1. Remedy: reshape or transpose an operand.",
        "{op}：形状 {shapes} 不匹配。从右往左比较，两个轴的长度相等或其中之一为 1 才能广播。"
        "解决办法：对某个操作数做 reshape 或转置。",
    ),
    "matmul": (
        "{op}: shapes {shapes} do not fit together. The last axis of the left operand has length "
        "{left}, and it must equal {right}, the length of the axis it is summed with. "
        "Remedy: check the layer's input width, or transpose an operand.",
        "{op}：形状 {shapes} 不匹配。左操作数最后一个轴的长度是 {left}，"
        "必须等于与它相乘求和的那个轴的长度 {right}。解决办法：检查该层的输入宽度，或转置某个操作数。",
    ),
    "rank": (
        "{op}: expected an operand with {expected}, got shape {shape}. Remedy: reshape it first.",
        "{op}：操作数应当有 {expected}，实际形状为 {shape}。解决办法：先用 reshape 调整形状。",
    ),
    "rank_unknown": (
        "{op}: the number of axes of {name} is not known while building. "
        "Remedy: give the placeholder a shape, for example shape=(None, 784).",
        "{op}：构图时还不知道 {name} 有几个轴。解决办法：给占位符指定形状，例如 shape=(None, 784)。",
    ),
    "axis": (
        "{op}: axis {axis} does not exist in shape {shape}. Remedy: use an axis from {low} to "
        "{high}.",
        "{op}：形状 {shape} 中没有轴 {axis}。解决办法：使用 {low} 到 {high} 之间的轴。",
    ),
    "axis_of_number": (
        "{op}: axis {axis} does not exist in shape (): a single number has no axes. Remedy: leave "
        "the axis out, or check where the axes went.",
        "{op}：形状 () 中没有轴 {axis}：单个数没有轴。解决办法：不写轴，或检查这些轴在哪里消失了。",
    ),
    "axis_twice": (
        "{op}: axis {axis} names the same axis of shape {shape} twice. Remedy: name each axis once.",
        "{op}：axis {axis} 把形状 {shape} 的同一个轴写了两次。解决办法：每个轴只写一次。",
    ),
    "lengths": (
        "{op}: shape {shape} is not possible. Remedy: lengths are whole numbers from 0; in a "
        "placeholder None leaves a length open.",
        "{op}：形状 {shape} 不合法。解决办法：各轴长度是从 0 开始的整数；占位符中用 None 表示未知长度。",
    ),
    "size_unknown": (
        "{op}: how many elements {name} has is not known while building, since its shape is {shape}. "
        "Remedy: ask for a length that is known, as x.size(1) or x.shape[1].",
        "{op}：构图时还不知道 {name} 有多少个元素，因为它的形状是 {shape}。"
        "解决办法：改问已知的长度，例如 x.size(1) 或 x.shape[1]。",
    ),
    "reshape": (
        "{op}: {count} elements of shape {shape} cannot be arranged as {target}. "
        "Remedy: choose lengths whose product is {count}; one of them may be -1.",
        "{op}：形状 {shape} 的 {count} 个元素无法排成 {target}。"
        "解决办法：让各轴长度的乘积等于 {count}；其中一个可以写 -1。",
    ),
    "labels": (
        "{op}: labels of shape {labels} do not belong to scores of shape {scores}. "
        "Remedy: one integer label for each row of scores.",
        "{op}：标签形状 {labels} 与得分形状 {scores} 不对应。解决办法：每一行得分配一个整数标签。",
    ),
    "label_type": (
        "{op}: labels must be integers (class numbers), not {dtype}. "
        "Remedy: labels.astype(int), or mg.placeholder(..., dtype=mg.int64).",
        "{op}：标签必须是整数（类别编号），不能是 {dtype}。"
        "解决办法：labels.astype(int)，或 mg.placeholder(..., dtype=mg.int64)。",
    ),
    "label_range": (
        "{op}: label {label} is outside 0 to {last}. Remedy: count classes from 0.",
        "{op}：标签 {label} 不在 0 到 {last} 之间。解决办法：类别从 0 开始编号。",
    ),
    "float_only": (
        "{op}: gradients need floating-point numbers, and this is {dtype}. "
        "Remedy: write 2.0 instead of 2, or pass dtype=mg.float32.",
        "{op}：只有浮点数才有梯度，而这里是 {dtype}。"
        "解决办法：把 2 写成 2.0，或传入 dtype=mg.float32。",
    ),
    "missing_name": (
        "{place} has no {missing}. Remedy: write {ours} instead.",
        "{place} 没有 {missing}。解决办法：改写成 {ours}。",
    ),
    "numpy_option": (
        "{op}: on tensors and nodes it is ours, which has no {option}. Remedy: leave {option} out, or "
        "pass x.numpy() where no gradient is wanted.",
        "{op}：对张量和节点，它由 minigrad 执行，没有 {option}。解决办法：去掉 {option}；不需要梯度时"
        "传入 x.numpy()。",
    ),
    "numpy_gradient": (
        "{op}: NumPy gives an array, and the gradient would be lost. Remedy: write {ours}; where no "
        "gradient is wanted, pass x.detach().",
        "{op}：NumPy 给出的是数组，梯度会丢失。解决办法：改写成 {ours}；不需要梯度时传入 x.detach()。",
    ),
    "numpy_node": (
        "{op}: it reads values, and a node has none until the graph is run. Remedy: write {ours}, or "
        "give NumPy what sess.run returns.",
        "{op}：它要读取值，而节点在图运行之前没有值。解决办法：改写成 {ours}，或把 sess.run 的返回值交给 "
        "NumPy。",
    ),
    "numpy_by_parts": ("it with functions of minigrad", "用 minigrad 的函数组成的式子"),
    "call_form": (
        "{op}: these arguments are not those of {op}({names}). Remedy: write {ours}.",
        "{op}：这些参数与 {op}({names}) 不符。解决办法：改写成 {ours}。",
    ),
    "arguments": (
        "{op}: these arguments do not fit {form}. Remedy: pass what is named there and nothing else; "
        "what has no value there is needed, what stands behind a * goes by name.",
        "{op}：这些参数与 {form} 不符。解决办法：只传其中列出的参数；没有默认值的必须给出，"
        "* 之后的要写出名字。",
    ),
    "two_keywords": (
        "{op}: {missing}= and {ours}= say the same. Remedy: leave one of them out.",
        "{op}：{missing}= 和 {ours}= 说的是同一件事。解决办法：只留其中一个。",
    ),
    "out_of_range": (
        "{op}: {value} has no place in {dtype}. Remedy: pass a wider data type, for example "
        "dtype=mg.int64, or a smaller number.",
        "{op}：{dtype} 放不下 {value}。解决办法：使用更宽的数据类型，例如 dtype=mg.int64，"
        "或换成较小的数。",
    ),
    "too_large": (
        "{op}: shape {shape} is more than any memory holds. Remedy: check the lengths.",
        "{op}：形状 {shape} 超出任何内存的容量。解决办法：检查各个长度。",
    ),
    "feed_range": (
        "Placeholder {name} takes {expected} and was fed numbers of {dtype} that have no place there. "
        "Remedy: declare the placeholder with dtype={dtype}, or feed smaller numbers.",
        "占位符 {name} 接受 {expected}，喂入的 {dtype} 数超出了它的范围。解决办法：声明占位符时写 "
        "dtype={dtype}，或喂入较小的数。",
    ),
    "expect_less": ("pass a number up to {most}", "传入不超过 {most} 的数"),
    "expect_finite_bounds": ("pass finite numbers", "传入有限的数"),
    "not_numeric": (
        "{op}: {value} cannot become an array of numbers. Remedy: pass numbers, nested lists of "
        "equal length, or a NumPy array.",
        "{op}：{value} 无法变成数值数组。解决办法：传入数字、长度一致的嵌套列表或 NumPy 数组。",
    ),
    "joined": (
        "{op}: shapes {shapes} cannot be joined: all operands need the same number of axes, and "
        "the same length along every axis but the one they are joined along. "
        "Remedy: reshape an operand, or choose another axis.",
        "{op}：形状 {shapes} 无法拼接：所有操作数的轴数必须相同，除拼接的轴以外各轴长度也必须相同。"
        "解决办法：对某个操作数做 reshape，或换一个轴。",
    ),
    "nothing_to_join": (
        "{op}: there is nothing to join. Remedy: pass a list with at least one operand.",
        "{op}：没有可以拼接的操作数。解决办法：传入至少含一个操作数的列表。",
    ),
    "split": (
        "{op}: axis {axis} of shape {shape} cannot be split by {sections}. Remedy: a number that "
        "divides its length, or a list of lengths that add up to it; an open axis needs the list.",
        "{op}：形状 {shape} 的轴 {axis} 无法按 {sections} 切分。"
        "解决办法：用能整除其长度的份数，或总和等于其长度的列表；长度未知的轴必须用列表。",
    ),
    "squeeze": (
        "{op}: axis {axis} of shape {shape} cannot be dropped, because its length is not 1. "
        "Remedy: name an axis of length 1; to keep the shape, as PyTorch does here, leave this call "
        "out; or index the axis to keep one of its elements.",
        "{op}：形状 {shape} 的轴 {axis} 长度不是 1，不能去掉。"
        "解决办法：选择长度为 1 的轴；若想像 PyTorch 那样保持形状不变，就去掉这次调用；"
        "或用下标取出该轴上的一个元素。",
    ),
    "broadcast_to": (
        "{op}: shape {shape} cannot be repeated to {target}. Compared from the right, each axis "
        "must have the wanted length or length 1. Remedy: insert axes with mg.expand_dims first.",
        "{op}：形状 {shape} 无法重复成 {target}。从右往左比较，每个轴的长度必须等于目标长度或为 1。"
        "解决办法：先用 mg.expand_dims 插入轴。",
    ),
    "pad": (
        "{op}: widths {widths} do not belong to shape {shape}. "
        "Remedy: one pair (before, after) of whole numbers from 0 for each axis.",
        "{op}：填充宽度 {widths} 与形状 {shape} 不对应。"
        "解决办法：每个轴写一对（前，后），都是从 0 开始的整数。",
    ),
    "empty_reduction": (
        "{op}: shape {shape} has no elements along axis {axis}, and among no elements none is the "
        "largest or smallest. Remedy: check the data, or leave the empty axis out.",
        "{op}：形状 {shape} 沿轴 {axis} 没有元素，没有元素就没有最大或最小的元素。"
        "解决办法：检查数据，或不要沿空的轴计算。",
    ),
    "index_range": (
        "{op}: index {index} is outside axis {axis}, which has length {length}. Remedy: positions "
        "count from 0 at the front, or from -1 at the end.",
        "{op}：下标 {index} 超出轴 {axis} 的范围，该轴长度为 {length}。"
        "解决办法：从前往后由 0 开始数，从后往前由 -1 开始数。",
    ),
    "index_count": (
        "{op}: {count} indices are too many for shape {shape}. "
        "Remedy: one index for each axis at most.",
        "{op}：对形状 {shape} 来说，{count} 个下标太多了。解决办法：每个轴最多一个下标。",
    ),
    "index_type": (
        "{op}: {value} cannot be an index. Remedy: use whole numbers, slices with a step other "
        "than 0, None, one ..., lists or arrays of integers, or a mask of bools.",
        "{op}：{value} 不能作下标。解决办法：使用整数、步长不为 0 的切片、None、一个 ...、"
        "整数列表或数组，或布尔掩码。",
    ),
    "mask_shape": (
        "{op}: a mask of shape {mask} does not fit onto shape {shape}. "
        "Remedy: the mask needs the lengths of the axes it chooses from.",
        "{op}：形状为 {mask} 的掩码与形状 {shape} 不符。解决办法：掩码的形状必须等于所选各轴的长度。",
    ),
    "mask_static": (
        "{op}: the mask {name} is a node of a static graph. How many elements it picks depends on "
        "the values, so the shape of the result would not be known while building. "
        "Remedy: keep the shape: mg.where(mask, x, 0), or x * mask.",
        "{op}：掩码 {name} 是静态图的节点。选出多少个元素取决于它的值，构图时无法知道结果的形状。"
        "解决办法：保持形状不变，用 mg.where(mask, x, 0) 或 x * mask。",
    ),
    "gather": (
        "{op}: indices of shape {indices} do not belong to shape {shape} along axis {axis}. "
        "Remedy: as many axes, and none but axis {axis} longer; mg.take picks whole rows.",
        "{op}：形状为 {indices} 的下标与形状 {shape} 在轴 {axis} 上不对应。"
        "解决办法：轴数相同，且除轴 {axis} 外都不能更长；要取整行请用 mg.take。",
    ),
    "condition_type": (
        "{op}: a condition is bool, and this is {dtype}. Remedy: compare first, for example x > 0; "
        "with & and | put each comparison into parentheses: (x > 0) & (x < 1).",
        "{op}：条件必须是布尔值，而这里是 {dtype}。解决办法：先做比较，例如 x > 0；"
        "使用 & 和 | 时给每个比较加上括号：(x > 0) & (x < 1)。",
    ),
    "zero_division": (
        "{op}: an integer cannot be divided by 0. Remedy: check the divisor, or use floats, where "
        "the answer is infinity or NaN.",
        "{op}：整数不能除以 0。解决办法：检查除数，或改用浮点数，结果会是无穷大或 NaN。",
    ),
    "option": (
        "{op}: {value} is not possible here. Remedy: choose one of {choices}.",
        "{op}：这里不能用 {value}。解决办法：从 {choices} 中选择。",
    ),
    "argument": (
        "{op}: {name}={value} is not possible. Remedy: {expected}.",
        "{op}：不能使用 {name}={value}。解决办法：{expected}。",
    ),
    "two_readings": (
        "{form} is read in two ways. Remedy: for the reading of {one} write {as_one}, for that of "
        "{other} write {as_other}.",
        "{form} 有两种读法。解决办法：按 {one} 的读法写成 {as_one}，按 {other} 的读法写成 {as_other}。",
    ),
    "expect_whole": ("pass a whole number from {least}", "传入不小于 {least} 的整数"),
    "expect_whole_between": (
        "pass a whole number from {least} to {most}",
        "传入 {least} 到 {most} 之间的整数",
    ),
    "expect_any_number": ("pass a number", "传入一个数"),
    "expect_number": ("pass a number from {least}", "传入不小于 {least} 的数"),
    "expect_shape": (
        "pass whole numbers from {least}: one, or a tuple of them",
        "传入不小于 {least} 的整数：一个，或由它们组成的元组",
    ),
    "expect_open_shape": (
        "pass a tuple of whole numbers, with None for an unknown length: (None, 784)",
        "传入由整数组成的元组，未知长度写 None，例如 (None, 784)",
    ),
    "expect_graph": (
        "pass a graph from mg.Graph() or mg.build_graph",
        "传入 mg.Graph() 或 mg.build_graph 的结果",
    ),
    "expect_feeds": (
        "pass a dict from placeholders or their names to values",
        "传入字典：键是占位符或它的名字，值是要馈送的数据",
    ),
    "expect_pairs": (
        "pass a dict, or a list of pairs: [(w, w - 0.1 * dw)]",
        "传入字典，或由二元组组成的列表，例如 [(w, w - 0.1 * dw)]",
    ),
    "expect_bound": (
        "pass a number or None; mg.maximum and mg.minimum take tensors",
        "传入一个数或 None；若界限是张量，请用 mg.maximum 和 mg.minimum",
    ),
    "expect_result": (
        "return one tensor of what f was given",
        "让 f 返回一个由其参数算出的张量",
    ),
    "expect_one_state": (
        "pass one tensor; only an LSTM has a pair",
        "传入一个张量；只有 LSTM 的状态是一对",
    ),
    "expect_two_states": ("pass the pair (h, c)", "传入一对状态：(h, c)"),
    "expect_state_dict": (
        "pass what state_dict() returned: a dict from names to arrays",
        "传入 state_dict() 返回的字典，即由名字到数组的映射",
    ),
    "expect_tensors": ("pass tensors", "传入张量"),
    "expect_called": (
        "call the function first, and name what to differentiate by: mg.grad(f(x), [x])",
        "先调用函数，再写明对谁求导：mg.grad(f(x), [x])",
    ),
    "expect_as_many": (
        "pass {count}, one for each output",
        "传入 {count} 项，每个输出各一项",
    ),
    "expect_name": ('pass a name: mg.name_scope("encoder")', '传入名字：mg.name_scope("encoder")'),
    "expect_node_name": (
        'pass the name as text, and a data type as dtype=: mg.placeholder("x", dtype=mg.int64)',
        '名字写成文本，数据类型写成 dtype=：mg.placeholder("x", dtype=mg.int64)',
    ),
    "name_or_dtype": (
        'placeholder: "{name}" could be its name or, as in TensorFlow, its data type. Remedy: '
        'mg.placeholder(np.{dtype}, shape) for the type, mg.placeholder(name="{name}") for the name.',
        'placeholder："{name}" 既可以是名字，也可以像 TensorFlow 那样是数据类型。解决办法：类型写成 '
        'mg.placeholder(np.{dtype}, shape)，名字写成 mg.placeholder(name="{name}")。',
    ),
    "expect_nodes": ("pass at least one node", "至少传入一个节点"),
    "one_element": (
        "{op}: a tensor of shape {shape} is not a single number. Remedy: reduce it first, for "
        "example x.sum(), or (x > 0).all() and (x > 0).any() for a condition; or pick one element.",
        "{op}：形状为 {shape} 的张量不是单个数。"
        "解决办法：先归约，例如 x.sum()，条件可以用 (x > 0).all() 或 (x > 0).any()；或取出其中一个元素。",
    ),
    "expect_widths": (
        "pass one whole number from 0, a pair (before, after), or such a pair for each axis",
        "传入一个不小于 0 的整数、一对（前，后），或给每个轴各传一对",
    ),
    "expect_keepdims": (
        "pass True or False; several axes are one tuple, axis=(0, 1)",
        "传入 True 或 False；多个轴写成一个元组：axis=(0, 1)",
    ),
    "expect_one_of_two": ("leave out this or {other}", "与 {other} 只留其一"),
    "expect_parts": (
        "pass the lengths of the parts, or sections= (their number), or split_size= (their length)",
        "传入各段的长度，或 sections=（段数），或 split_size=（每段的长度）",
    ),
    "expect_count": (
        "use mg.nn.Dropout, which counts its calls; or pass count=, a number that changes from "
        "call to call",
        "用会自己计数的 mg.nn.Dropout；或传入 count=，一个每次调用都不同的数",
    ),
    "expect_constant": ('write mode="constant"', '写成 mode="constant"'),
    "expect_flat_widths": (
        "pass one tuple (before, after, ...) of whole numbers, the last axis first; mg.pad takes a "
        "pair for each axis",
        "传入一个由整数组成的元组（前，后，……），从最后一个轴写起；mg.pad 则给每个轴各传一对",
    ),
    "expect_flag": (
        "pass True or False; a data type is dtype=",
        "传入 True 或 False；数据类型写成 dtype=",
    ),
    "expect_momentum": ("pass momentum= above 0, too", "同时传入大于 0 的 momentum="),
    "expect_cpu": (
        "leave it out: everything is on the processor",
        "省略它：一切都在 CPU 上",
    ),
    "expect_group": (
        'write {{"params": [...]}} with options of this optimiser only: {known}',
        '写成 {{"params": [...]}}，只能加上这个优化器的选项：{known}',
    ),
    "expect_once": (
        "name each parameter once, in one group",
        "每个参数只出现一次，只属于一组",
    ),
    "expect_both_values": (
        "pass what to take where it holds and what elsewhere; np.nonzero(condition.numpy()) are the "
        "positions where it holds",
        "同时传入成立处和其余各处要取的值；np.nonzero(condition.numpy()) 是成立处的位置",
    ),
    "expect_axis": (
        "pass one whole number; negative ones count from the end",
        "传入一个整数；负数从末尾数起",
    ),
    "expect_axes": (
        "pass a whole number or a tuple of them; negative ones count from the end",
        "传入一个整数，或由整数组成的元组；负数从末尾数起",
    ),
    "expect_dtype": (
        "pass a data type of numbers, such as mg.float32",
        "传入数值类型，例如 mg.float32",
    ),
    "expect_float": ("pass mg.float32 or mg.float64", "传入 mg.float32 或 mg.float64"),
    "expect_bounds": (
        "pass (stop), (start, stop) or (start, stop, step) with a step other than 0",
        "传入终点、起点和终点，或起点、终点和步长，步长不能为 0",
    ),
    "expect_state": (
        "pass the state to begin with, or a cell that has a method zero_state(x)",
        "传入初始状态，或使用带 zero_state(x) 方法的单元",
    ),
    "expect_statistics": (
        "pass both statistics of shape (channels,), or training=True",
        "传入两个统计量，形状均为 (channels,)，或写 training=True",
    ),
    "expect_known_lengths": (
        "it needs operands with 4 axes whose channels, and kernels whose lengths, are known",
        "操作数须有 4 个轴，且通道数和卷积核的各轴长度已知",
    ),
    "expect_function": (
        "pass the function itself: f, not f()",
        "传入函数本身：写 f，不要写 f()",
    ),
    "expect_module": (
        "pass layers, for example mg.nn.ReLU() instead of mg.relu",
        "传入层，例如用 mg.nn.ReLU()，而不是 mg.relu",
    ),
    "expect_parameters": (
        "pass model.parameters(), or a list of tensors or variables",
        "传入 model.parameters()，或由张量、变量组成的列表",
    ),
    "method": (
        "{op} has no method of its own for this. Remedy: define {method} in the class.",
        "{op} 没有为此定义自己的方法。解决办法：在类中定义 {method}。",
    ),
    "expect_betas": ("pass two numbers from 0 to below 1", "传入两个从 0 到小于 1 的数"),
    "computed_parameter": (
        "{op}: this tensor was computed by {creator}, so it is no parameter: what is trained are "
        "leaves. Remedy: mg.tensor(x.numpy(), requires_grad=True), or pass the leaves themselves.",
        "{op}：这个张量是由 {creator} 算出来的，不是参数：能训练的是叶子张量。"
        "解决办法：mg.tensor(x.numpy(), requires_grad=True)，或直接传入叶子张量。",
    ),
    "expect_list": ("pass a list of them, as in [a, b]", "传入列表，例如 [a, b]"),
    "bool_arithmetic": (
        "{op}: truth values have no {what}. Remedy: x.astype(int) to count with them, or "
        "mg.logical_not, mg.logical_xor.",
        "{op}：布尔值没有这一项：{what}。"
        "解决办法：用 x.astype(int) 当作数来计算，或使用 mg.logical_not、mg.logical_xor。",
    ),
    "what_difference": ("difference", "差"),
    "what_negative": ("negative", "相反数"),
    "what_sign": ("sign", "符号"),
    "what_rounding": ("fraction to round", "可取整的小数部分"),
    "negative_power": (
        "{op}: integers cannot be raised to negative powers: the result is no integer. "
        "Remedy: convert one of them, for example x.astype(mg.float32).",
        "{op}：整数不能取负数次幂，因为结果不是整数。"
        "解决办法：转换其中一个，例如 x.astype(mg.float32)。",
    ),
    "kernel": (
        "{op}: the kernel stopped on operands of shape {shapes}: {reason} "
        "Remedy: compare data types and options with what the operator takes.",
        "{op}：核函数在处理形状为 {shapes} 的操作数时中止：{reason} "
        "解决办法：对照该算子接受的数据类型和选项检查。",
    ),
    "window_fit": (
        "{op}: a window of {size} does not fit into images of height × width {extent} (shape "
        "{shape}; padding added: {padding}). Without padding every kernel makes the image smaller: "
        "3 × 3 takes 2 off each length, so 16 becomes 14, 12, … and no eighth layer fits. "
        'Remedy: padding=1 for a 3 × 3 kernel (or padding="same"), a smaller kernel, or fewer '
        "layers.",
        "{op}：{size} 的窗口放不进高 × 宽为 {extent} 的图像（形状 {shape}；填充：{padding}）。"
        "不加填充时每个卷积核都会让图像变小：3 × 3 会使各边减少 2，16 依次变成 14、12、……，放不下第八层。"
        '解决办法：3 × 3 的核用 padding=1（或 padding="same"），换更小的核，或减少层数。',
    ),
    "view_copies": (
        "{op}: the elements of this tensor {shape} do not lie in the order that the new shape needs, "
        "so they would have to be copied. Remedy: .reshape(...), which copies where it must.",
        "{op}：这个形状为 {shape} 的张量，元素的存放次序与新形状不符，只能复制。"
        "解决办法：改用 .reshape(...)，它会在必要时复制。",
    ),
    "norm_channels": (
        "{op}: axis 1 of {shape} are the channels, and statistics, weight and bias have one number "
        "for each; one of these has the shape {found}. Remedy: the shape (channels,).",
        "{op}：形状 {shape} 的第 1 轴是通道；统计量、weight 和 bias 都应每通道一个数，"
        "其中一个的形状却是 {found}。解决办法：改成形状 (channels,)。",
    ),
    "groups": (
        "{op}: {count} channels or kernels, in an operand of shape {shape}, cannot be parted into "
        "{groups} equal groups. Remedy: a whole number from 1 that divides both.",
        "{op}：形状为 {shape} 的操作数有 {count} 个通道或卷积核，无法均分成 {groups} 组。"
        "解决办法：写一个能整除两者的正整数。",
    ),
    "window_option": (
        "{op}: {option}={value} is not possible. Remedy: one whole number from {least}, or two: "
        "(height, width).",
        "{op}：{option}={value} 不合法。解决办法：写一个不小于 {least} 的整数，或写两个：先高后宽。",
    ),
    "same_padding": (
        '{op}: padding="same" keeps height and width, which is not possible with stride {stride}. '
        "Remedy: stride=1, or give the padding as numbers.",
        '{op}：padding="same" 会保持高和宽不变，步幅为 {stride} 时做不到。'
        "解决办法：使用 stride=1，或用数字指定填充。",
    ),
    "pool_padding": (
        "{op}: padding {padding} is more than half of the window {size}, so some windows would lie "
        "in the padding altogether. Remedy: a smaller padding.",
        "{op}：填充 {padding} 超过窗口 {size} 的一半，有的窗口会完全落在填充里。"
        "解决办法：减小填充。",
    ),
    "channels": (
        "{op}: shapes {shapes} do not fit together: the images have {channels} channels, and the "
        "kernels take {expected}. Remedy: in_channels of a layer is out_channels of the one before; "
        "images come as (batch, channels, height, width).",
        "{op}：形状 {shapes} 不匹配：图像有 {channels} 个通道，卷积核需要 {expected} 个。"
        "解决办法：一层的 in_channels 等于前一层的 out_channels；图像的四个轴依次是批量、通道、高、宽。",
    ),
    "gradient_shape": (
        "{op}: shape {shape} does not belong to a result of shape {expected}. Remedy: pass a "
        "gradient of the result's own shape.",
        "{op}：形状 {shape} 与形状为 {expected} 的结果不对应。解决办法：传入与结果形状相同的梯度。",
    ),
    "probability": (
        "{op}: p={p} is not a probability. Remedy: a number from 0 (nothing is dropped) to 1.",
        "{op}：p={p} 不是概率。解决办法：使用 0（什么都不丢弃）到 1 之间的数。",
    ),
    "count_type": (
        "{op}: the count of runs must be an integer, not {dtype}. Remedy: an int, or "
        "graph.run_counter().",
        "{op}：运行次数必须是整数，不能是 {dtype}。解决办法：使用整数，或 graph.run_counter()。",
    ),
    "loss_shapes": (
        "{op}: targets of shape {shape} do not have the shape {expected} of the predictions; "
        "stretching one of them would compare every prediction with every target. "
        "Remedy: reshape one of them, for example targets.reshape(-1, 1).",
        "{op}：目标的形状 {shape} 与预测的形状 {expected} 不同；若广播，每个预测会与每个目标都比较一遍。"
        "解决办法：对其中之一做 reshape，例如 targets.reshape(-1, 1)。",
    ),
    "norm_shape": (
        "{op}: shape {shape} does not end with {expected}, the lengths of the axes to normalise. "
        "Remedy: give the layer the lengths of the last axes of its input.",
        "{op}：形状 {shape} 的末尾不是要规范化的各轴长度 {expected}。"
        "解决办法：把输入最后几个轴的长度交给该层。",
    ),
    "features": (
        "{op}: axis 1 of shape {shape} must have length {expected}, the layer's number of features. "
        "Remedy: make the layer as wide as the output of the one before it.",
        "{op}：形状 {shape} 的轴 1 长度必须等于该层的特征数 {expected}。"
        "解决办法：让该层的宽度等于前一层输出的宽度。",
    ),
    "one_value": (
        "{op}: shape {shape} has one value for each channel, which has no variance to train with. "
        "Remedy: a batch of two or more, or eval() for the running statistics.",
        "{op}：形状 {shape} 的每个通道只有一个值，训练时没有方差可算。"
        "解决办法：批量大小至少为 2，或先调用 eval() 使用滑动统计量。",
    ),
    "update_in_body": (
        "{op}: the running value {name} cannot be renewed inside a branch or a loop of a static "
        "graph. Remedy: call the layer outside of it, or call eval() on the layer first.",
        "{op}：在静态图的分支或循环里无法更新滑动统计量 {name}。"
        "解决办法：把该层放到分支或循环之外，或先对该层调用 eval()。",
    ),
    "state_names": (
        "{op}: this state does not belong to this model. Missing: {missing}; unknown: {unknown}. "
        "Remedy: load into a model that is built in the same way.",
        "{op}：这份状态与模型不对应。缺少：{missing}；多余：{unknown}。"
        "解决办法：加载到以同样方式构建的模型里。",
    ),
    "state_shape": (
        "load_state_dict: {name} has shape {expected}, and the state holds shape {shape}. "
        "Remedy: build the model with the same sizes.",
        "load_state_dict：{name} 的形状是 {expected}，状态里的形状却是 {shape}。"
        "解决办法：用同样的大小构建模型。",
    ),
    "not_finite": (
        "{op}: the result holds {count} value(s) that are NaN or infinite; shapes of the operands: "
        "{shapes}. Remedy: look at the operands of this node; usual causes are log(0), 0/0, "
        "overflow in exp, or NaN in the data.",
        "{op}：结果中有 {count} 个 NaN 或无穷大；操作数形状：{shapes}。"
        "解决办法：检查该节点的操作数；常见原因是 log(0)、0/0、exp 溢出，或数据里本来就有 NaN。",
    ),
    # gradients
    "no_graph": (
        "backward: this tensor was not computed from any tensor with requires_grad=True, so there "
        "is no graph to walk. Remedy: mg.tensor(..., requires_grad=True), and compute outside "
        "mg.no_grad().",
        "backward：这个张量不是由 requires_grad=True 的张量算出来的，没有可走的计算图。"
        "解决办法：使用 mg.tensor(..., requires_grad=True)，并且不要在 mg.no_grad() 里计算。",
    ),
    "scalar_only": (
        "backward: the output has shape {shape}, and only a single number has a plain gradient. "
        "Remedy: reduce it first, for example y.sum().backward(), or pass gradient= with shape "
        "{shape}: the weight of each element.",
        "backward：输出的形状是 {shape}，只有单个数才能直接求梯度。"
        "解决办法：先归约，例如 y.sum().backward()；或用 gradient= 传入形状为 {shape} 的各元素权重。",
    ),
    "seed_shape": (
        "backward: gradient= has shape {seed} but the output has shape {shape}. "
        "Remedy: pass one weight for each element of the output.",
        "backward：gradient= 的形状是 {seed}，输出的形状却是 {shape}。"
        "解决办法：为输出的每个元素各给一个权重。",
    ),
    "freed": (
        "backward: this graph was walked once already, and {op} has dropped the values it saved "
        "for that. Remedy: compute the output again (a new forward pass makes a new graph); "
        "retain_graph=True is only for walking the very same graph twice on purpose.",
        "backward：这张图已经反向走过一遍，{op} 为此保存的值已经释放。"
        "解决办法：重新计算输出（新的前向传播会建一张新图）；"
        "只有确实要把同一张图走两遍时才用 retain_graph=True。",
    ),
    "changed": (
        "backward: a value that {op} saved was changed in place afterwards, at {where}, so its "
        "gradient would be wrong. Remedy: use y = y + 1 instead of y += 1, or make the change "
        "before {op} uses the value.",
        "backward：{op} 保存的一个值后来在 {where} 被原地修改，算出的梯度会是错的。"
        "解决办法：把 y += 1 写成 y = y + 1，或在 {op} 使用它之前修改。",
    ),
    "lazy_dropped": (
        "{op}: this result of a lazy_batch block was never computed, because an error ended the "
        "block or its run. Remedy: run the block again without the error.",
        "{op}：lazy_batch 代码块或其运行因错误而中断，这个结果没有计算出来。"
        "解决办法：排除错误后重新运行该代码块。",
    ),
    "hook_of_row": (
        "{op}: this tensor is one row of a batch that lazy_batch computed, and its gradient never "
        "stands alone in the backward pass. Remedy: mg.grad(loss, [x]) gives it, or compute this "
        "tensor outside of lazy_batch.",
        "{op}：这个张量是 lazy_batch 所算批次中的一行，反向传播时它的梯度不会单独出现。"
        "解决办法：用 mg.grad(loss, [x]) 取得它，或在 lazy_batch 之外计算这个张量。",
    ),
    "leaf_in_place": (
        "{op}: a leaf tensor with requires_grad=True cannot be changed in place while operations "
        "are recorded. Remedy: to compute with it, make a new tensor, as y = x + 1 instead of "
        "x += 1; to update a parameter, do it inside mg.no_grad().",
        "{op}：记录运算时，不能原地修改 requires_grad=True 的叶子张量。"
        "解决办法：若要用它计算，就产生新的张量，例如把 x += 1 写成 y = x + 1；"
        "若要更新参数，就在 mg.no_grad() 中修改。",
    ),
    "view_of_leaf": (
        "{op}: this tensor is a view of a leaf with requires_grad=True: changing it would change "
        "the leaf while operations are recorded. Remedy: do it inside mg.no_grad(), or on a copy "
        "such as x * 1.",
        "{op}：这个张量是 requires_grad=True 的叶子张量的视图，修改它就会在记录运算时改动叶子。"
        "解决办法：在 mg.no_grad() 中修改，或修改副本，例如 x * 1。",
    ),
    "view_in_place": (
        "{op}: another tensor looks at the same memory (one is a view of the other), and its "
        "history would no longer tell how its values came about. Remedy: assign to the whole "
        "tensor, x[index] = value, before views of it are made; or use y = y + 1 instead of "
        "y += 1.",
        "{op}：另有张量使用同一块内存（一个是另一个的视图），修改之后它的历史就不再说明它的值从何而来。"
        "解决办法：在取视图之前对整个张量赋值：x[index] = value；或者把 y += 1 写成 y = y + 1。",
    ),
    "grad_type": (
        "{op}: a gradient is a tensor, or None; this is {found}. Remedy: x.grad = None or "
        "x.zero_grad() clears it, and mg.tensor(...) makes a tensor.",
        "{op}：梯度只能是张量或 None，这里却是 {found}。"
        "解决办法：用 x.grad = None 或 x.zero_grad() 清除梯度；用 mg.tensor(...) 得到张量。",
    ),
    "grad_shape": (
        "{op}: a gradient of shape {found} cannot be that of a tensor of shape {shape}. Remedy: "
        "where broadcasting used a number more than once, sum what came back over those axes.",
        "{op}：形状为 {found} 的梯度，不可能属于形状为 {shape} 的张量。"
        "解决办法：广播时一个数用了多次，就把传回来的梯度沿那些轴求和。",
    ),
    "in_place_shape": (
        "{op}: the result has shape {found} and cannot stand in the place of shape {shape}. "
        "Remedy: y = y + other makes a new tensor of the larger shape.",
        "{op}：结果的形状是 {found}，放不进形状 {shape} 里。"
        "解决办法：用 y = y + other 得到形状更大的新张量。",
    ),
    "in_place_type": (
        "{op}: a value of {found} cannot stand in the place of {dtype} without losing something. "
        "Remedy: y = y + other makes a new tensor, or convert first: x.astype(...).",
        "{op}：{found} 的值放进 {dtype} 里会丢失信息。"
        "解决办法：用 y = y + other 得到新张量，或先转换：x.astype(...)。",
    ),
    "recorded": (
        "{op}: {name} of a recorded node cannot be changed: the node tells what was computed. "
        "Remedy: compute anew; another run of the code records another graph.",
        "{op}：已记录节点的 {name} 不能修改，因为节点说的是已经算过的事。"
        "解决办法：重新计算；代码再运行一次就会记录另一张图。",
    ),
    "needs_grad": (
        "{op}: this tensor does not require a gradient, so none will ever come by. "
        "Remedy: mg.tensor(..., requires_grad=True), and compute outside mg.no_grad().",
        "{op}：这个张量不需要梯度，永远不会有梯度经过。"
        "解决办法：使用 mg.tensor(..., requires_grad=True)，并且不要在 mg.no_grad() 里计算。",
    ),
    "hook_shape": (
        "register_hook: the hook returned shape {found} for a gradient of shape {shape}. "
        "Remedy: return a gradient of the same shape, or None to leave it as it is.",
        "register_hook：梯度的形状是 {shape}，钩子返回的形状却是 {found}。"
        "解决办法：返回形状相同的梯度；返回 None 表示不改动。",
    ),
    "not_a_leaf": (
        "{op}: only a leaf can be told that it requires no gradient; this tensor was computed. "
        "Remedy: use x.detach().",
        "{op}：只有叶子张量可以改为不需要梯度，而这个张量是算出来的。解决办法：使用 x.detach()。",
    ),
    "copy_history": (
        "{op}: this tensor was computed by {creator}, and its history cannot be copied. "
        "Remedy: copy x.detach(), or compute it again from copies of the leaves.",
        "{op}：这个张量由 {creator} 算出，它的历史无法复制。"
        "解决办法：复制 x.detach()，或用叶子的副本重新计算。",
    ),
    "not_connected": (
        "grad: the output does not depend on {name}. Remedy: pass allow_unused=True to get None "
        "for it.",
        "grad：输出不依赖 {name}。解决办法：传入 allow_unused=True，它的梯度就是 None。",
    ),
    "no_parameters": (
        "{op}: there are no parameters to change. Remedy: pass model.parameters(), or a list of "
        "tensors with requires_grad=True.",
        "{op}：没有可更新的参数。解决办法：传入 model.parameters()，"
        "或由 requires_grad=True 的张量组成的列表。",
    ),
    "no_parameter_used": (
        "{op}: the loss depends on none of these parameters. Remedy: build the loss and the "
        "optimiser from the same model, in the same graph.",
        "{op}：损失不依赖这些参数中的任何一个。解决办法：用同一个模型、在同一张图里构建损失和优化器。",
    ),
    "check_grads": (
        "check_grads: {function}, argument {index}, order {order}: the gradient of the graph and "
        "the central difference disagree by {difference:.3g} (tolerance {tolerance:.3g}).",
        "check_grads：{function} 的第 {index} 个参数，{order} 阶：计算图的梯度与中心差分相差 "
        "{difference:.3g}（容差 {tolerance:.3g}）。",
    ),
    # static graphs
    "symbolic_bool": (
        "{name} ({op}, shape {shape}) is a node of a static graph: while the graph is being built "
        "it has no value, so Python's if, while, and, or, not cannot decide on it. Remedy: "
        "put the branch into the graph with mg.cond or mg.while_loop, or let @mg.script rewrite "
        "the Python source into them.",
        "{name}（{op}，形状 {shape}）是静态图的节点：构图时它还没有值，"
        "Python 的 if、while、and、or、not 无法据此判断。"
        "解决办法：用 mg.cond 或 mg.while_loop 把分支放进图里，或用 @mg.script 把 Python 源码改写成它们。",
    ),
    "symbolic_value": (
        "{name} ({op}, shape {shape}) is a node of a static graph: it has a shape and a data type "
        "but no value until the graph is run, so {use} is not possible. "
        "Remedy: mg.run(graph, feed_dict=...) or session.run(...).",
        "{name}（{op}，形状 {shape}）是静态图的节点：运行之前只有形状和数据类型，没有值，"
        "因此不能{use}。解决办法：mg.run(graph, feed_dict=...) 或 session.run(...)。",
    ),
    "use_bool": ("deciding a branch on it", "据此判断分支"),
    "use_number": ("turning it into a number", "把它变成数字"),
    "use_array": ("turning it into an array", "把它变成数组"),
    "use_loop": ("looping over it", "对它做循环"),
    "traced_value": (
        "{about}: while {function} is traced it has a shape and a data type but no value, so {use} "
        "is not possible. Remedy: put the branch into the graph with mg.cond or mg.while_loop, let "
        "@mg.script rewrite the Python source into them, or pass a plain Python value, which makes "
        "a trace of its own.",
        "{about}：追踪 {function} 时它只有形状和数据类型，还没有值，因此不能{use}。"
        "解决办法：用 mg.cond 或 mg.while_loop 把分支放进图里，用 @mg.script 把 Python 源码改写成它们，"
        "或者传入普通的 Python 值（每个值各追踪一次）。",
    ),
    "an_argument": ("argument {name}", "参数 {name}"),
    "a_global": ("global {name}", "全局变量 {name}"),
    "a_closure": ("closure variable {name}", "闭包变量 {name}"),
    "an_attribute": ("attribute {name}", "属性 {name}"),
    "a_training": ("training mode of {name}", "{name} 的训练模式"),
    "a_captured": ("captured tensor {name}", "捕获的张量 {name}"),
    "an_object": ("a {kind}", "{kind} 对象"),
    "from_arguments": (
        "{name} ({op}, shape {shape}), computed from argument {names}",
        "{name}（{op}，形状 {shape}），由参数 {names} 算出",
    ),
    "from_nowhere": ("{name} ({op}, shape {shape})", "{name}（{op}，形状 {shape}）"),
    "leaked": (
        "{name} ({op}) was built while {function} was traced; outside it has no value and cannot "
        "be used. Remedy: return it from there, and use what the call returns.",
        "{name}（{op}）是追踪 {function} 时建立的，在外面没有值，不能使用。"
        "解决办法：从那里返回它，使用调用的返回值。",
    ),
    "why_first": ("first call", "首次调用"),
    "why_shape": ("{source}: shape {before} → {after}", "{source}：形状 {before} → {after}"),
    "why_dtype": (
        "{source}: data type {before} → {after}",
        "{source}：数据类型 {before} → {after}",
    ),
    "why_value": ("{source} changed: {before} → {after}", "{source} 改变：{before} → {after}"),
    "why_number": (
        "{source}: Python value {before} → {after} (as a tensor it would need no trace of its own)",
        "{source}：Python 值 {before} → {after}（传入张量就不必为每个值各追踪一次）",
    ),
    "why_object": ("{source}: another object, {after}", "{source}：换成了另一个对象，{after}"),
    "why_missing": ("{source} is not there any more", "{source} 不再存在"),
    "why_added": ("{source} is new: {after}", "新增 {source}：{after}"),
    "explain": (
        "{function}: traces: {traces}, calls: {calls}",
        "{function}：追踪 {traces} 次，调用 {calls} 次",
    ),
    "explain_trace": (
        "  trace {number}, made for call {made}: {reason}\n"
        "    signature: {signature}; calls served: {calls}",
        "  追踪 {number}，为第 {made} 次调用而做：{reason}\n"
        "    输入签名：{signature}；服务的调用次数：{calls}",
    ),
    "not_traced": (
        "{function} has no graph yet. Remedy: call it once, and look again.",
        "{function} 还没有图。解决办法：先调用一次，再查看。",
    ),
    "many_traces": (
        "save: {function} has {traces} graphs, one for each signature it was called with, and a "
        "file holds one. Remedy: choose one, {function}.cache[0].graph.save(path), or declare one "
        "signature for all calls: mg.function(input_signature=...).",
        "save：{function} 有 {traces} 张图，每种调用签名对应一张，而一个文件只能存一张。"
        "解决办法：选定一张，{function}.cache[0].graph.save(path)；"
        "或用 mg.function(input_signature=...) 为所有调用声明同一签名。",
    ),
    "recursive": (
        "{function} calls itself with the same signature, so its trace would never end. Remedy: "
        "let a Python value that counts down end the recursion, or use mg.while_loop.",
        "{function} 用同样的输入签名调用自己，追踪永远不会结束。"
        "解决办法：用一个递减的 Python 值结束递归，或使用 mg.while_loop。",
    ),
    "spec_shape": (
        "argument {name}: the input signature says {expected}, and the value has shape {shape}. "
        "Remedy: pass a value of that shape, or leave the length open with None.",
        "参数 {name}：输入签名为 {expected}，而值的形状是 {shape}。"
        "解决办法：传入该形状的值，或用 None 放开这个长度。",
    ),
    "spec_type": (
        "argument {name}: the input signature says {expected}, and the value is {dtype}. "
        "Remedy: convert it first, with .astype.",
        "参数 {name}：输入签名为 {expected}，而值的数据类型是 {dtype}。"
        "解决办法：先用 .astype 转换。",
    ),
    "spec_arrangement": (
        "argument {name}: the input signature says {expected}, and the value is {value}. "
        "Remedy: pass values in the same arrangement.",
        "参数 {name}：输入签名为 {expected}，而值是 {value}。解决办法：按同样的结构传入值。",
    ),
    "spec_constant": (
        "argument {name}: the input signature says {expected}, and the value is {value}. "
        "Remedy: pass that value, or declare it with mg.TensorSpec.",
        "参数 {name}：输入签名为 {expected}，而值是 {value}。"
        "解决办法：传入该值，或用 mg.TensorSpec 声明它。",
    ),
    "traced_shape": (
        "argument {name}: the graph was traced for {expected}, and the value has shape {shape}. "
        "Remedy: trace once more with such an example, or use @mg.function, which traces for each "
        "shape by itself.",
        "参数 {name}：这张图是按 {expected} 追踪的，而值的形状是 {shape}。"
        "解决办法：用这样的例子再追踪一次，或使用 @mg.function，它会为每种形状各追踪一次。",
    ),
    "traced_type": (
        "argument {name}: the graph was traced for {expected}, and the value is {dtype}. "
        "Remedy: convert it first, with .astype, or trace once more with such an example.",
        "参数 {name}：这张图是按 {expected} 追踪的，而值的数据类型是 {dtype}。"
        "解决办法：先用 .astype 转换，或用这样的例子再追踪一次。",
    ),
    "traced_arrangement": (
        "argument {name}: the graph was traced for {expected}, and the value is {value}. "
        "Remedy: pass values in the same arrangement.",
        "参数 {name}：这张图是按 {expected} 追踪的，而值是 {value}。解决办法：按同样的结构传入值。",
    ),
    "traced_constant": (
        "argument {name}: the graph was traced for {expected}, and the value is {value}. What is "
        "no tensor is part of the graph. Remedy: trace once more with that value.",
        "参数 {name}：这张图是按 {expected} 追踪的，而值是 {value}。不是张量的参数是图的一部分。"
        "解决办法：用该值再追踪一次。",
    ),
    "example_value": (
        "trace: {value} has no value to run on. Remedy: pass a tensor, an array or a number as the "
        "example, or use mg.make_graph, which needs shapes only.",
        "trace：{value} 没有值，无法据此运行。"
        "解决办法：用张量、数组或数字作例子，或使用只需要形状的 mg.make_graph。",
    ),
    "baked": ("line {line}: {text} was {outcome}", "第 {line} 行：{text} 为 {outcome}"),
    "baked_warning": (
        "trace of {function}: {baked} for the example, and the graph keeps that for all inputs. "
        "Remedy: mg.cond or mg.while_loop, or @mg.script; or see with .check(other inputs) whether "
        "it matters.",
        "追踪 {function}：对例子而言，{baked}，图对所有输入都照此办理。"
        "解决办法：用 mg.cond、mg.while_loop 或 @mg.script；也可以用 .check(...) 换别的输入，看它是否有影响。",
    ),
    "check_equal": (
        "{function}: Python and the graph agree; the largest difference is {difference}.",
        "{function}：Python 与图的结果一致，最大差别为 {difference}。",
    ),
    "check_differs": (
        "{function}: Python gives {expected}, the graph gives {actual}.",
        "{function}：Python 得到 {expected}，图得到 {actual}。",
    ),
    "check_turn": (
        "{baked} when it was traced, and is {now} here.",
        "追踪时：{baked}，这里却为 {now}。",
    ),
    "a_body": ("a branch or a loop step", "分支或循环体"),
    "node_backward": (
        "{use}: {name} ({op}) is a node of a static graph, where there is no tape to walk. "
        "Remedy: mg.gradients(loss, [x, w]) gives the gradients as nodes; or return the loss from "
        "the function and call backward() on what the call returns.",
        "{use}：{name}（{op}）是静态图的节点，这里没有磁带可走。"
        "解决办法：用 mg.gradients(loss, [x, w]) 得到梯度节点；"
        "或从函数返回损失，再对调用结果执行 backward()。",
    ),
    "node_in_place": (
        "{use}: {name} ({op}) is a node of a static graph and cannot be changed in place. Remedy: "
        "compute a new value, for example with x + 1 or mg.where, and use that.",
        "{use}：{name}（{op}）是静态图的节点，不能原地修改。"
        "解决办法：例如用 x + 1 或 mg.where 算出新的值，再使用它。",
    ),
    "tensor_in_place": (
        "{op}: tensor {name} cannot be changed while a function is traced: it would change once, "
        "not at each call. Remedy: return the new value, and change the tensor outside.",
        "{op}：追踪函数时不能修改张量 {name}：修改只会发生一次，而不是每次调用都发生。"
        "解决办法：返回新的值，在外面修改张量。",
    ),
    "not_fed": (
        "Placeholder {name} (shape {shape}, {dtype}) was not fed, and {target} needs it. "
        "Remedy: feed_dict={{{name}: value}}.",
        "占位符 {name}（形状 {shape}，{dtype}）没有被馈送，而 {target} 需要它。"
        "解决办法：feed_dict={{{name}: 值}}。",
    ),
    "not_fed_namesake": (
        "Placeholder {name} (shape {shape}, {dtype}) was not fed, and {target} needs it. Another "
        "placeholder of that name was fed, from {other}: a name means the newest. Remedy: build "
        "{target} again (run its cell), or feed the node itself: feed_dict={{node: value}}.",
        "占位符 {name}（形状 {shape}，{dtype}）没有被馈送，而 {target} 需要它。"
        "被馈送的是另一个同名的占位符（{other}）：名字指的是最新的那一个。"
        "解决办法：重新构建 {target}（再运行它的单元格），或直接馈送节点：feed_dict={{node: 值}}。",
    ),
    "feed_older": (
        "feed_dict has the key {key}: so an older placeholder named {name} is called here, beside "
        "a newer one that holds the name. Remedy: feed the node itself, or give the two different "
        "names.",
        "feed_dict 中的键 {key} 是图中对较早的占位符 {name} 的称呼，名字 {name} 属于较新的那一个。"
        "解决办法：直接馈送节点，或给两个占位符起不同的名字。",
    ),
    "feed_shape": (
        "Placeholder {name} takes shape {expected} and was fed an array of shape {shape}. "
        "Remedy: feed data of that shape; only an axis declared as None may have any length.",
        "占位符 {name} 的形状是 {expected}，却馈送了形状为 {shape} 的数组。"
        "解决办法：馈送这种形状的数据；只有声明为 None 的轴才可以是任意长度。",
    ),
    "feed_type": (
        "Placeholder {name} takes {expected} and was fed {dtype}, which would lose information. "
        "Remedy: convert the data first, or declare the placeholder with dtype={dtype}.",
        "占位符 {name} 的数据类型是 {expected}，却馈送了会丢失信息的 {dtype}。"
        "解决办法：先转换数据，或用 dtype={dtype} 声明占位符。",
    ),
    "feed_value": (
        "Placeholder {name} was fed {value}, which cannot become an array of {dtype}. Remedy: "
        "feed numbers, nested lists of equal length, or a NumPy array, not a graph node.",
        "占位符 {name} 收到的 {value} 无法变成 {dtype} 数组。"
        "解决办法：馈送数字、长度一致的嵌套列表或 NumPy 数组，不要馈送图节点。",
    ),
    "feed_key": (
        "feed_dict has the key {key}, which is no placeholder of this graph. "
        "Remedy: use one of {names}.",
        "feed_dict 中的键 {key} 不是这张图的占位符。解决办法：从 {names} 中选用。",
    ),
    "feed_foreign": (
        "feed_dict has the key {key}, a placeholder that belongs to another graph. Remedy: use a "
        "placeholder of this graph, or the name of one as the key: {names}.",
        "feed_dict 中的键 {key} 是另一张图的占位符。"
        "解决办法：改用这张图的占位符，或以它的名字作键：{names}。",
    ),
    "fetch": (
        "{value} cannot be fetched: it is not a node of a static graph. Remedy: fetch a Node, the "
        "name of one, or a list, tuple or dict of them.",
        "无法取回 {value}：它不是静态图的节点。"
        "解决办法：取回节点、节点的名字，或由它们组成的列表、元组、字典。",
    ),
    "fetch_none": (
        "{value} cannot be fetched: mg.gradients gives it where nothing depends on that x. Remedy: "
        "leave it out, [g for g in grads if g is not None].",
        "无法取回 {value}：如果结果不依赖某个 x，mg.gradients 就给出 {value}。"
        "解决办法：把它去掉，[g for g in grads if g is not None]。",
    ),
    "unknown_name": (
        "this graph has no node named {name}. Remedy: use one of {names}.",
        "这张图里没有名为 {name} 的节点。解决办法：从 {names} 中选用。",
    ),
    "uninitialized": (
        "Variable {name} (shape {shape}) has no value yet in this session. Remedy: "
        "session.run(mg.global_variables_initializer()) first; every session starts empty.",
        "变量 {name}（形状 {shape}）在这个会话里还没有值。"
        "解决办法：先执行 session.run(mg.global_variables_initializer())；每个会话开始时都是空的。",
    ),
    "run_within_run": (
        "this would start a run in the middle of another one of the same program or session, whose "
        "memory it would overwrite. Remedy: start it when the other one is over, or compile a "
        "program of its own: graph.compile().",
        "这会在同一个程序或会话的一次运行当中再启动一次运行，覆盖前者正在使用的内存。"
        "解决办法：等前一次运行结束后再启动，或者另外编译一个程序：graph.compile()。",
    ),
    "session_closed": (
        "this session is closed. Remedy: open a new one: with mg.Session() as sess.",
        "这个会话已经关闭。解决办法：新开一个会话：with mg.Session() as sess。",
    ),
    "other_graph": (
        "{op}: {name} belongs to another graph. Remedy: build all operands inside the same "
        "`with graph:` block.",
        "{op}：{name} 属于另一张图。解决办法：在同一个 `with graph:` 里构建所有操作数。",
    ),
    "foreign_fetch": (
        "Session.run: {name} belongs to another graph than this session. Remedy: build it inside "
        "`with mg.Session(graph):`, or open a session on its own graph, mg.Session(node.graph).",
        "Session.run：{name} 属于另一张图，不是这个会话的图。解决办法：在 `with mg.Session(graph):` "
        "里构建它，或在它自己的图上打开会话：mg.Session(node.graph)。",
    ),
    "frozen": (
        "{op}: this graph is frozen, and nothing can be added to it. Remedy: build the node before "
        "freeze(), or in another graph; if this is inside a loop, build once before the loop and "
        "feed new values instead.",
        "{op}：这张图已经冻结，不能再添加节点。解决办法：在 freeze() 之前构建该节点，或放到另一张图里；"
        "如果写在循环里，请在循环之前构建一次，循环中只馈送新的值。",
    ),
    "cycle": (
        "the graph would contain a cycle: {path}. No node of it could ever be computed first. "
        "Remedy: feed the earlier value in through a placeholder or a variable.",
        "图中会出现环：{path}。环上没有哪个节点可以先算。"
        "解决办法：用占位符或变量把先前的值送进来。",
    ),
    "order_nodes": (
        "an order names each of the {nodes} nodes of the graph once; this one has {given} entries, "
        "or other nodes. Remedy: start from graph.nodes, or take one of graph.orders().",
        "一种顺序要把图的 {nodes} 个节点各列出一次；这里给了 {given} 项，或者列了别的节点。"
        "解决办法：从 graph.nodes 出发，或取 graph.orders() 中的一种。",
    ),
    "order_early": (
        "{node} stands before {missing}, whose value it needs. "
        "Remedy: put {missing} earlier, or take one of graph.orders().",
        "{node} 排在 {missing} 前面，却要用到它的值。"
        "解决办法：把 {missing} 往前放，或取 graph.orders() 中的一种。",
    ),
    "missing_input": (
        "{output} needs placeholder {name}, which is not among the inputs. "
        "Remedy: mg.build_graph([..., {name}], outputs).",
        "{output} 需要占位符 {name}，但它不在输入之中。"
        "解决办法：mg.build_graph([..., {name}], outputs)。",
    ),
    "no_outputs": (
        "a graph needs at least one output node. Remedy: mg.build_graph(inputs, outputs) with a "
        "node that was computed from placeholders, variables or constants.",
        "一张图至少要有一个输出节点。"
        "解决办法：mg.build_graph(inputs, outputs)，输出应当是由占位符、变量或常量算出的节点。",
    ),
    "not_a_node": (
        "{what}: expected a node of a static graph, got {value}. "
        "Remedy: start from mg.placeholder, mg.Variable or mg.constant.",
        "{what}：需要静态图的节点，实际得到 {value}。"
        "解决办法：从 mg.placeholder、mg.Variable 或 mg.constant 开始构建。",
    ),
    "gradients_list": (
        "{use}: mg.gradients returns a list, one gradient for each x (here {count}), and this wants "
        "a node. Remedy: take the gradient out, [dw] = mg.gradients(loss, w), or "
        "mg.gradients(loss, w)[0]; lists are joined by [*a, *b].",
        "{use}：mg.gradients 返回列表，每个 x 对应一个梯度（这里有 {count} 个），而此处需要节点。"
        "解决办法：先取出梯度，[dw] = mg.gradients(loss, w)，或 mg.gradients(loss, w)[0]；"
        "合并列表写 [*a, *b]。",
    ),
    "function_input": (
        "theano_function: {name} ({op}) is not a placeholder, so it cannot be an input. "
        "Remedy: inputs are placeholders; to put a value in the place of another node, "
        "givens=[({name}, value)].",
        "theano_function：{name}（{op}）不是占位符，不能作为输入。"
        "解决办法：输入只能是占位符；要用别的值代替某个节点，使用 givens=[({name}, value)]。",
    ),
    "function_needs": (
        "theano_function: placeholder {name} is needed and is not among the inputs. "
        "Remedy: mg.theano_function([..., {name}], ...), or givens=[({name}, value)].",
        "theano_function：计算需要占位符 {name}，但它不在输入之中。"
        "解决办法：mg.theano_function([..., {name}], ...)，或 givens=[({name}, value)]。",
    ),
    "function_arguments": (
        "this function takes ({expected}) and was given ({given}). "
        "Remedy: one value for each input, in this order or by name.",
        "这个函数的输入是（{expected}），实际给出的是（{given}）。"
        "解决办法：每个输入各给一个值，按此顺序，或写明名字。",
    ),
    "updated_twice": (
        "{op}: one variable has two updates, and only one value can hold afterwards. "
        "Remedy: one pair for each variable.",
        "{op}：同一个变量有两个更新，而更新之后它只能有一个值。解决办法：每个变量只写一对。",
    ),
    "given_shape": (
        "{op}: {name} has shape {expected}, and a value of shape {shape} cannot stand in for it. "
        "Remedy: reshape the value first.",
        "{op}：{name} 的形状是 {expected}，形状为 {shape} 的值不能代替它。"
        "解决办法：先对这个值做 reshape。",
    ),
    "not_an_input": (
        "build_graph: {name} ({op}) is not a placeholder, so it cannot be an input. "
        "Remedy: inputs are placeholders; variables and constants are found by themselves.",
        "build_graph：{name}（{op}）不是占位符，不能作为输入。"
        "解决办法：输入只能是占位符；变量和常量会自动找到。",
    ),
    "has_history": (
        "{op}: a tensor that was computed on the tape cannot enter a static graph: its history "
        "would be lost. Remedy: pass x.detach() to use its value as a constant.",
        "{op}：磁带上算出来的张量不能进入静态图，否则它的历史会丢失。"
        "解决办法：用 x.detach() 把它的值当作常量传入。",
    ),
    "assign_shape": (
        "{op}: variable {name} has shape {expected} and cannot take a value of shape {shape}. "
        "Remedy: the new value must have the variable's shape.",
        "{op}：变量 {name} 的形状是 {expected}，不能接收形状为 {shape} 的值。"
        "解决办法：新值的形状必须与变量一致。",
    ),
    "not_a_variable": (
        "{op}: {value} is not a variable. Remedy: mg.Variable(initial_value, name=...).",
        "{op}：{value} 不是变量。解决办法：mg.Variable(initial_value, name=...)。",
    ),
    "one_bool": (
        "{op}: the condition has shape {shape}, and a branch needs a single value. Remedy: reduce "
        "it first, for example (x > 0).all() or x.sum() > 0.",
        "{op}：条件的形状是 {shape}，而分支只能由单个值决定。"
        "解决办法：先归约，例如 (x > 0).all() 或 x.sum() > 0。",
    ),
    "branch_arrangement": (
        "{op}: the two branches return different arrangements, {true} and {false}. Remedy: return "
        "the same number of values, in the same order, from both.",
        "{op}：两个分支返回的结构不同：{true} 与 {false}。"
        "解决办法：让两个分支按相同的顺序返回同样多的值。",
    ),
    "branch_types": (
        "{op}: result {index} is {true} in the one branch and {false} in the other. "
        "Remedy: convert one of them with .astype.",
        "{op}：第 {index} 个结果在一个分支里是 {true}，在另一个分支里是 {false}。"
        "解决办法：用 .astype 转换其中一个。",
    ),
    "loop_condition": (
        "{op}: the condition returned several values. Remedy: return a single bool.",
        "{op}：循环条件返回了多个值。解决办法：只返回一个布尔值。",
    ),
    "loop_list_of_one": (
        "{op}: a list of one is handed to the functions as it is, a list, as in JAX; TensorFlow "
        "takes it apart. Remedy: init=x instead of init=[x].",
        "{op}：只有一个元素的列表会原样（作为列表）传给函数，与 JAX 相同；TensorFlow 则会把它拆开。"
        "解决办法：写 init=x，不要写 init=[x]。",
    ),
    "loop_arrangement": (
        "{op}: the body returned another arrangement than the state it was given. "
        "Remedy: return as many values as `init` has, in the same order.",
        "{op}：循环体返回的结构与传入的状态不同。解决办法：返回的值要与 `init` 个数相同、顺序一致。",
    ),
    "loop_type": (
        "{op}: value {index} of the state is {before} before a step and {after} after it. "
        "Remedy: start from {after}, or convert the result with .astype.",
        "{op}：状态的第 {index} 个值在一步之前是 {before}，一步之后变成了 {after}。"
        "解决办法：从 {after} 开始，或用 .astype 转换结果。",
    ),
    "loop_shape": (
        "{op}: value {index} of the state has shape {before} before a step and {after} after it. "
        "Remedy: a loop keeps the shapes of its state; collect what grows with mg.scan.",
        "{op}：状态的第 {index} 个值在一步之前形状为 {before}，一步之后变成 {after}。"
        "解决办法：循环中状态的形状保持不变；会增长的结果请用 mg.scan 收集。",
    ),
    "scan_lengths": (
        "{op}: the sequences must have one common length, and these have {lengths}. "
        "Remedy: pass at least one sequence, and cut or pad all to the same length.",
        "{op}：各序列的长度必须相同，实际为 {lengths}。"
        "解决办法：至少传入一个序列，并把它们截断或填充到同样的长度。",
    ),
    "scan_pair": (
        "{op}: the step must return a pair (carry, y), and returned {value}. "
        "Remedy: return carry, None where there is no y.",
        "{op}：每一步必须返回 (carry, y) 两项，实际返回 {value}。"
        "解决办法：没有 y 时返回 carry, None。",
    ),
    "ragged_steps": (
        "{op}: the steps gave values of different shapes {shapes}, which cannot be stacked. "
        "Remedy: keep the shapes of all steps equal, by padding for example.",
        "{op}：各步得到的值形状不同：{shapes}，无法堆叠。"
        "解决办法：让每一步的形状相同，例如先做填充。",
    ),
    # source that becomes a graph
    "script_lambda": (
        "script: a lambda cannot be rewritten, because its source is only a part of a line. "
        "Remedy: write it as a function with def.",
        "script：无法改写 lambda，因为它的源码只是一行中的一部分。解决办法：用 def 写成函数。",
    ),
    "script_source": (
        "script: the source of {name} is not to be found in {file}. Remedy: define the function in "
        "a file or a notebook cell; run the cell again or restart Python if the file was changed.",
        "script：在 {file} 中找不到 {name} 的源码。"
        "解决办法：在文件或笔记本单元格中定义函数；如果文件已修改，请重新运行单元格或重启 Python。",
    ),
    "script_callable": (
        "script: {name} is no function written in Python. Remedy: pass a function, a method, or an "
        "object whose class has a forward or __call__ method.",
        "script：{name} 不是用 Python 编写的函数。"
        "解决办法：传入函数、方法，或其类带有 forward 或 __call__ 方法的对象。",
    ),
    "script_try": (
        "script: {code}: a graph cannot catch exceptions. Remedy: move it out of the function, or "
        "decide beforehand with if.",
        "script：{code}：计算图无法捕获异常。解决办法：把它移到函数外面，或事先用 if 判断。",
    ),
    "script_with": (
        "script: {code} enters a context that a graph knows nothing of. Remedy: only minigrad's "
        "own context managers, such as mg.no_grad() and mg.name_scope(), may be used here; put the "
        "block outside the function.",
        "script：{code} 进入了计算图不了解的上下文。"
        "解决办法：这里只能使用 minigrad 自己的上下文管理器，例如 mg.no_grad() 和 mg.name_scope()；"
        "其他的 with 请放到函数外面。",
    ),
    "script_yield": (
        "script: {code}: a graph has no generators. Remedy: return a list or a tensor; mg.scan "
        "collects a result for each step.",
        "script：{code}：计算图里没有生成器。解决办法：返回列表或张量；mg.scan 可以收集每一步的结果。",
    ),
    "script_async": (
        "script: {code}: a graph has nothing to wait for. Remedy: use a plain def without async and "
        "await.",
        "script：{code}：计算图里没有可等待的东西。解决办法：使用普通的 def，不用 async 和 await。",
    ),
    "script_global": (
        "script: {code}: a graph can change no variable outside the function. Remedy: return the "
        "new value and assign it outside, or use mg.Variable and mg.assign.",
        "script：{code}：计算图不能修改函数外面的变量。"
        "解决办法：返回新的值，在外面赋值；或使用 mg.Variable 和 mg.assign。",
    ),
    "script_del": (
        "script: {code}: in a graph a variable cannot be taken away again. Remedy: leave it out; a "
        "value that nobody uses takes no memory.",
        "script：{code}：计算图中的变量不能再被删除。解决办法：去掉这一句；没有人使用的值不占内存。",
    ),
    "script_import": (
        "script: {code} cannot be part of a graph. Remedy: import at the top of the file.",
        "script：{code} 不能成为计算图的一部分。解决办法：在文件开头导入。",
    ),
    "script_class": (
        "script: {code} cannot be part of a graph. Remedy: define the class outside the function.",
        "script：{code} 不能成为计算图的一部分。解决办法：在函数外面定义类。",
    ),
    "script_match": (
        "script: {code}: a graph cannot compare patterns. Remedy: write if, elif and else.",
        "script：{code}：计算图无法匹配模式。解决办法：改写成 if、elif 和 else。",
    ),
    "script_loop_else": (
        "script: {code}: a loop with else is not supported. Remedy: set a flag before break, and "
        "ask it after the loop.",
        "script：{code}：不支持带 else 的循环。解决办法：在 break 之前设置一个标志，循环之后再判断它。",
    ),
    "script_walrus": (
        "script: {code}: an assignment with := where it may not be reached, or is reached again "
        "and again. Remedy: assign in a statement of its own.",
        "script：{code}：这里的 := 赋值可能执行不到，也可能反复执行。解决办法：单独写一条赋值语句。",
    ),
    "script_locals": (
        "script: {code}: in a graph branches and loops have variables of their own, which this "
        "does not see. Remedy: name the variables that are needed.",
        "script：{code}：计算图中的分支和循环各有自己的变量，这里看不到它们。"
        "解决办法：直接写出需要的变量。",
    ),
    "script_closure": (
        "script: {name} is changed here, and a nested function that is used here reads it from "
        "outside: in a graph the two would see different values. Remedy: pass {name} to the nested "
        "function as an argument.",
        "script：{name} 在这里被修改，而这里用到的内嵌函数从外面读取它：在计算图中两者会看到不同的值。"
        "解决办法：把 {name} 作为参数传给内嵌函数。",
    ),
    "script_undefined": (
        "script: variable {name} may have no value here: it is assigned on one way only, in a "
        "branch or in a loop that may make no step. Remedy: give {name} a value before, or in both "
        "branches.",
        "script：变量 {name} 在这里可能没有值：它只在一条路径上被赋值，"
        "例如某个分支，或可能一步也不执行的循环。解决办法：事先给 {name} 赋值，或在两个分支中都赋值。",
    ),
    "script_no_step": (
        "variable {name} has no value: the loop that gives it one made no step",
        "变量 {name} 没有值：给它赋值的循环一步也没有执行",
    ),
    "script_attribute": (
        "script: {code} is assigned in a branch or a loop of the graph, which Python builds once: "
        "it would change whether or not the branch runs. Remedy: assign to a plain variable here, "
        "and to the attribute after the branch.",
        "script：{code} 在图的分支或循环里被赋值，而 Python 只构建它们一次：无论分支是否运行，它都会改变。"
        "解决办法：这里先赋给普通变量，分支结束之后再赋给属性。",
    ),
    "script_item": (
        "script: {code} changes an object from outside in a branch or a loop of the graph, which "
        "Python builds once: it would change whether or not the branch runs. Remedy: keep values "
        "in plain variables; collect the results of a loop with mg.scan.",
        "script：{code} 在图的分支或循环里修改了外面的对象，而 Python 只构建它们一次："
        "无论分支是否运行，它都会改变。解决办法：用普通变量保存值；循环的结果用 mg.scan 收集。",
    ),
    "script_raise": (
        "script: raise in a branch or a loop of the graph, which Python builds once: it would "
        "always raise. Remedy: mg.Assert(condition, message) checks when the graph runs.",
        "script：raise 出现在图的分支或循环里，而 Python 只构建它们一次：它总会抛出。"
        "解决办法：用 mg.Assert(condition, message) 在图运行时检查。",
    ),
    "script_recursion": (
        "script: this branch was built {times} times within itself: a recursion that a value of "
        "the graph decides on never ends while it is built. Remedy: write it as a while loop, or "
        "let a Python number decide.",
        "script：这个分支已在自身内部构建了 {times} 次：由图中的值决定是否结束的递归，构图时永远不会结束。"
        "解决办法：改写成 while 循环，或由 Python 数值决定。",
    ),
    "script_comprehension": (
        "script: Python must know how many elements there are here, and only the graph does. "
        "Remedy: use a for statement, or mg.scan.",
        "script：这里 Python 必须知道有多少个元素，而这只有计算图才知道。"
        "解决办法：使用 for 语句或 mg.scan。",
    ),
    "script_together": (
        "script: {name} of nodes together with Python lists. Remedy: make a tensor of each list "
        "with mg.tensor, or loop over a range and index.",
        "script：{name} 同时用到了节点和 Python 列表。"
        "解决办法：用 mg.tensor 把列表变成张量，或对 range 循环再取下标。",
    ),
    "script_range": (
        "script: range takes whole numbers, and was given {value}. Remedy: int(n), or a "
        "placeholder with dtype=mg.int64.",
        "script：range 需要整数，实际得到 {value}。解决办法：int(n)，或使用 dtype=mg.int64 的占位符。",
    ),
    "script_rows": (
        "script: {name} of a node of shape {shape} would compare whole rows. Remedy: mg.min, "
        "mg.max, mg.any or mg.all, with an axis.",
        "script：{name} 作用于形状为 {shape} 的节点，会比较整行。"
        "解决办法：使用 mg.min、mg.max、mg.any 或 mg.all，并指定轴。",
    ),
    "script_variable": ("variable {name}", "变量 {name}"),
    "script_returned": ("the returned value", "返回值"),
    "script_value_of": ("the value of {name}", "{name} 的值"),
    "script_branch_types": (
        "{op}: {variable} is {true} in the one branch and {false} in the other. Remedy: convert "
        "one of them with .astype.",
        "{op}：“{variable}”在一个分支里是 {true}，在另一个分支里是 {false}。"
        "解决办法：用 .astype 转换其中一个。",
    ),
    "script_branch_values": (
        "{op}: {variable} is {true} in the one branch and {false} in the other, and a graph can "
        "only choose between numbers. Remedy: let both branches give tensors or numbers.",
        "{op}：“{variable}”在一个分支里是 {true}，在另一个分支里是 {false}，"
        "而计算图只能在数值之间选择。解决办法：让两个分支都给出张量或数值。",
    ),
    "script_branch_arrangement": (
        "{op}: {variable} is {true} in the one branch and {false} in the other, which are arranged "
        "differently. Remedy: give as many values, in the same order, in both.",
        "{op}：“{variable}”在一个分支里是 {true}，在另一个分支里是 {false}，两者结构不同。"
        "解决办法：让两个分支按相同的顺序给出同样多的值。",
    ),
    "script_loop_type": (
        "{op}: {variable} is {before} before a step and {after} after it. Remedy: start from "
        "{after}, or convert the result with .astype.",
        "{op}：“{variable}”在一步之前是 {before}，一步之后变成了 {after}。"
        "解决办法：从 {after} 开始，或用 .astype 转换结果。",
    ),
    "script_loop_shape": (
        "{op}: {variable} has shape {before} before a step and {after} after it. Remedy: a loop "
        "keeps the shapes of its variables; collect what grows with mg.scan.",
        "{op}：“{variable}”在一步之前形状为 {before}，一步之后变成 {after}。"
        "解决办法：循环中变量的形状保持不变；会增长的结果请用 mg.scan 收集。",
    ),
    "script_loop_values": (
        "{op}: {variable} is {before} before a step and {after} after it, and a graph carries only "
        "numbers from step to step, always as many. Remedy: start from a number or a tensor where "
        "a step gives one; collect what grows with mg.scan.",
        "{op}：“{variable}”在一步之前是 {before}，一步之后是 {after}，"
        "而计算图逐步传递的只能是数值，而且个数不变。"
        "解决办法：每一步给出数值或张量的地方，也从数值或张量开始；会增长的结果请用 mg.scan 收集。",
    ),
    "no_part": (
        "{op}: there is no result {index} in {spec}",
        "{op}：{spec} 中没有第 {index} 个结果",
    ),
    "inside_body": (
        "{op}: a branch, a loop step or a traced function cannot hold this. Remedy: build it "
        "outside, and pass values in and out: a new value of a variable is returned and assigned "
        "outside.",
        "{op}：分支、循环体或被追踪的函数内部不能有它。"
        "解决办法：在外面构建，用参数和返回值传递；变量的新值先返回，再在外面赋值。",
    ),
    "assertion": (
        "Assert: {message} ({count} element(s) of shape {shape} are false)",
        "Assert：{message}（形状 {shape} 中有 {count} 个元素为假）",
    ),
    "no_kernel": (
        "this operator has no kernel of its own: what it does depends on the run, so only an "
        "executor can do it. Remedy: run the graph with mg.run or in a session.",
        "这个算子没有自己的核函数：它做什么取决于当次运行，只能由执行器完成。"
        "解决办法：用 mg.run 或会话来运行计算图。",
    ),
    "verify": (
        "the graph is broken at node {name} ({op}): {reason}",
        "计算图在节点 {name}（{op}）处已损坏：{reason}",
    ),
    "nan_untaken": (
        "{name} ({op}) stands in front of a branch that did not need it (at {where}): its gradient "
        "is 0 times a slope that is infinite or NaN, so NaN. Remedy: compute it inside the branch, as in "
        "mg.cond(x > 0, lambda: mg.log(x), lambda: x), or keep its operand away from that place.",
        "{name}（{op}）在分支之前计算，而走到的分支（位于 {where}）用不到它：它的梯度是 0 "
        "乘以无穷大或 NaN 的斜率，结果是 NaN。解决办法：把它写进分支里，例如 "
        "mg.cond(x > 0, lambda: mg.log(x), lambda: x)，或让它的操作数避开那一点。",
    ),
    # files
    "format_load": (
        "load_graph: {path} was refused, and nothing was loaded: {reason}\nRemedy: {remedy}",
        "load_graph：拒绝加载 {path}，没有载入任何内容：{reason}\n解决办法：{remedy}",
    ),
    "format_save": (
        "save: this graph cannot be put into a file, and nothing was written: {reason}",
        "save：这张图无法存入文件，没有写入任何内容：{reason}",
    ),
    "format_again": (
        "save the graph again with graph.save(path), or get an undamaged copy from a source that "
        "you trust.",
        "用 graph.save(path) 重新保存，或从可信的来源重新获取完好的文件。",
    ),
    "format_update": ("update minigrad.", "升级 minigrad。"),
    "format_import": (
        "import the module that defines the operator first.",
        "先导入定义这个算子的模块。",
    ),
    "no_file": (
        "save: {path} is {kind}; a file is written whole and put in its place, and only a file can "
        "be replaced. Remedy: give the name of a file.",
        "save：{path} 是{kind}。保存时先写好整个文件，再放到目标位置，而能被替换的只有文件。"
        "解决办法：给出一个文件名。",
    ),
    "file_pipe": ("a pipe", "管道"),
    "file_device": ("a device", "设备"),
    "file_socket": ("a socket", "套接字"),
    "file_folder": ("a folder", "文件夹"),
    "format_irregular": (
        "it is {kind} and no file.",
        "它是{kind}，不是文件。",
    ),
    "format_copy": (
        "put what comes from there into a file, and load that.",
        "把其中的内容写进一个文件，再加载那个文件。",
    ),
    "format_zip": (
        "it is no whole zip archive ({reason}).",
        "它不是完整的 zip 压缩包（{reason}）。",
    ),
    "format_entry": (
        "its entry {entry} does not belong there.",
        "其中的条目 {entry} 不应存在。",
    ),
    "format_twice": (
        "its entry {entry} is there twice.",
        "其中的条目 {entry} 出现了两次。",
    ),
    "format_missing": (
        "its entry {entry} is missing.",
        "其中缺少条目 {entry}。",
    ),
    "format_packed": (
        "its entry {entry} is compressed or encrypted; entries are stored as they are, so that no "
        "file unpacks to more than its own size.",
        "其中的条目 {entry} 被压缩或加密；条目必须原样存放，这样文件解开后不会大于它自身。",
    ),
    "format_limit": (
        "too large ({what}: {count}, the limit is {limit}).",
        "过大（{what}：{count}，上限为 {limit}）。",
    ),
    "format_json": (
        "{entry} is not strict JSON ({reason}).",
        "{entry} 不是严格的 JSON（{reason}）。",
    ),
    "format_array": (
        "{entry} is no plain array of numbers ({reason}).",
        "{entry} 不是普通的数值数组（{reason}）。",
    ),
    "format_newer": (
        "it is of format version {version}; this minigrad knows versions up to {known}.",
        "它的格式版本是 {version}，当前的 minigrad 最高只认识版本 {known}。",
    ),
    "format_value": (
        "found {value} where {expected} belongs.",
        "此处应为 {expected}，实际为 {value}。",
    ),
    "format_operator": (
        "there is no operator {op}.",
        "不存在算子 {op}。",
    ),
    "format_node": (
        "node {index}, {name}: {reason}",
        "节点 {index}（{name}）：{reason}",
    ),
    "format_name": (
        "the name {name} is empty or taken by another node.",
        "名字 {name} 为空，或已被另一个节点占用。",
    ),
    "format_call": (
        "{op} does not take this: {problem}.",
        "{op} 不接受这样的输入：{problem}。",
    ),
    "format_rule": (
        "the rule of {op} refuses it: {reason}",
        "{op} 的规则不允许：{reason}",
    ),
    "format_claim": (
        "it claims {claimed}, its operator gives {found}.",
        "它声称自己是 {claimed}，而算子给出的是 {found}。",
    ),
    "format_foreign": (
        "{name} ({op}) reads {other}, which is not in this graph.",
        "{name}（{op}）读取的 {other} 不在这张图里。",
    ),
    "format_no_data": (
        "{name} ({op}): the attribute {attr}={value} is no data.",
        "{name}（{op}）：属性 {attr}={value} 不是数据。",
    ),
    "format_captured": (
        "{function} reads {name} ({op}), a node of another graph, which has no value by itself. "
        "Remedy: build a graph around it, mg.build_graph(inputs, outputs), and save that one.",
        "{function} 读取了 {name}（{op}），它是另一张图的节点，自身没有值。"
        "解决办法：用 mg.build_graph(inputs, outputs) 建一张把它包含在内的图，再保存那张图。",
    ),
    "format_returned": (
        "{function} returns {value}, which is neither a tensor nor a number. "
        "Remedy: trace and save a function that returns the tensors alone.",
        "{function} 返回了 {value}，它既不是张量，也不是数。"
        "解决办法：改为跟踪并保存只返回张量的函数。",
    ),
    # optimiser passes: why a change was made
    "unknown_pass": (
        "optimize: there is no pass named {name}. Remedy: use one of {names}, or a function from "
        "a graph to a graph.",
        "optimize：没有名为 {name} 的 Pass。解决办法：从 {names} 中选用，或传入一个由图到图的函数。",
    ),
    "unknown_executor": (
        "compile: there is no executor named {name}. Remedy: use one of {names}.",
        "compile：没有名为 {name} 的执行器。解决办法：从 {names} 中选用。",
    ),
    "no_compiler": (
        'executor "c": no C compiler found, so NumPy runs the program. Remedy: install cc, gcc or '
        "clang, or the package ziglang.",
        "执行器 c：没有找到 C 编译器，改由 NumPy 运行程序。"
        "解决办法：安装 cc、gcc 或 clang，或者安装 ziglang 包。",
    ),
    "compiler_failed": (
        'executor "c": the C compiler failed ({reason}), so NumPy runs the program.',
        "执行器 c：C 编译器出错（{reason}），改由 NumPy 运行程序。",
    ),
    "open_plan": (
        "the plan is made for one choice of shapes, and placeholder {name} has open lengths. "
        "Remedy: run the program once, and look at the plan of that run.",
        "内存规划针对一组确定的形状，而占位符 {name} 含有未知长度。"
        "解决办法：先运行一次程序，再查看那次运行的规划。",
    ),
    "narrowed_shape": (
        "with_shapes: {name} cannot have shape {shape}, as {expected} was declared. Remedy: give a "
        "length only where the declared one is open (None), or the same.",
        "with_shapes：{name} 声明的形状是 {expected}，不能收窄成 {shape}。解决办法：只给声明为未定"
        "（None）的长度赋值，其余须与声明一致。",
    ),
    "pass_plain": (
        "the shape {shape} is known, so it need not be read off another value",
        "形状 {shape} 已知，不必再从别的值读取",
    ),
    "pass_equal_lengths": (
        "its open lengths must be equal, or an operator of this graph would refuse them",
        "这些未定长度必然相等，否则图中会有算子拒绝它们",
    ),
    "pass_narrowed": (
        "with the lengths that were given, its shape is {shape}",
        "代入给定的长度之后，它的形状是 {shape}",
    ),
    "recompute_budget": (
        "recompute: no choice of values to compute again brings the planned memory down to "
        "{budget:,} bytes; the least found is {least:,}. Remedy: allow that much, or feed smaller "
        "batches.",
        "recompute：无论重算哪些值，规划的内存都降不到 {budget:,} 字节；找到的最小值是 {least:,} "
        "字节。解决办法：放宽预算，或减小批次。",
    ),
    "pass_recomputed": (
        "backward computes it again when it reads it, so it need not be kept until then",
        "反向传播读取它时再算一遍，因此不必一直保留",
    ),
    "pass_recognized": (
        "there is an operator for it, {what}: rounded differently, and safe from overflow",
        "有现成的算子可用（{what}）：舍入略有不同，但不会溢出",
    ),
    "pass_sign": ("two changes of sign cancel", "两次变号相互抵消"),
    "pass_hoisted": (
        "it is the same in every step, so it is computed once, in front of the loop",
        "它在每一步都相同，因此提到循环之前，只算一次",
    ),
    "pass_lost": (
        "optimize: after the pass {name} the graph has other inputs or outputs, or lacks an "
        "effect. Remedy: a pass keeps number, shape and data type of both ends, and all nodes "
        "that print, assert or assign.",
        "optimize：执行 Pass {name} 之后，图的输入或输出变了，或少了带副作用的节点。解决办法：Pass "
        "须保持两端的个数、形状和数据类型，并保留所有打印、断言和赋值的节点。",
    ),
    # schedules
    "expect_costs": (
        "pass seconds from 0: a mapping from nodes (or their names) to numbers, or a function",
        "传入不小于 0 的秒数：从节点（或节点名）到数的映射，或一个函数",
    ),
    "schedule_costs": (
        "schedule: no cost is given for {names} (missing: {count}). Remedy: give one for each "
        "task; leave costs out to have them measured.",
        "schedule：没有给出 {names} 的耗时（缺 {count} 个）。"
        "解决办法：给每个任务一个耗时；省略 costs 则由程序自己测量。",
    ),
    "schedule_feeds": (
        "schedule: the loop {name} may never end when it is fed with numbers made up for "
        "measuring. Remedy: schedule(feed_dict=...), or give costs.",
        "schedule：测量时用的是随意取的数，循环 {name} 可能不会结束。"
        "解决办法：schedule(feed_dict=...)，或者给出 costs。",
    ),
    "threads_unknown": (
        "set_num_threads: the library of NumPy's matrix products cannot be told. Remedy: install "
        "threadpoolctl, or set OMP_NUM_THREADS before Python starts.",
        "set_num_threads：无法设置 NumPy 矩阵乘法库的线程数。"
        "解决办法：安装 threadpoolctl，或在启动 Python 之前设置 OMP_NUM_THREADS。",
    ),
    "schedule_bare": (
        "this schedule belongs to no program, so there is nothing to run. "
        "Remedy: program.schedule(devices=2).",
        "这个调度不属于任何程序，没有可运行的内容。解决办法：program.schedule(devices=2)。",
    ),
    "schedule_order": (
        "schedule: {name} starts at {start}, before it can, at {ready}.",
        "schedule：{name} 从 {start} 开始，早于它最早可以开始的时刻 {ready}。",
    ),
    "schedule_bounds": (
        "schedule: the makespan {makespan} is not between {low} and {high}.",
        "schedule：总时长 {makespan} 不在 {low} 与 {high} 之间。",
    ),
    "schedule_given": (
        "{tasks} tasks on {used} of {devices} devices, predicted from given costs: {makespan}",
        "{tasks} 个任务，{devices} 个设备中用了 {used} 个，按给定耗时预测：{makespan}",
    ),
    "schedule_measured": (
        "{tasks} tasks on {used} of {devices} devices, predicted from measured costs: {makespan}",
        "{tasks} 个任务，{devices} 个设备中用了 {used} 个，按实测耗时预测：{makespan}",
    ),
    "schedule_run": (
        "{tasks} tasks on {used} of {devices} devices, as run: {makespan}",
        "{tasks} 个任务，{devices} 个设备中用了 {used} 个，实际运行：{makespan}",
    ),
    "schedule_limits": (
        "critical path * {path} ({nodes} tasks), total / devices {share}, total {total}, "
        "devices busy {used}",
        "关键路径 * {path}（{nodes} 个任务），总工作量 / 设备数 {share}，总工作量 {total}，"
        "设备利用率 {used}",
    ),
    "schedule_trial": (
        "devices: {devices}, predicted {predicted}",
        "设备数 {devices}：预测 {predicted}",
    ),
    "schedule_tried": (
        "devices: {devices}, predicted {predicted}, measured {measured}",
        "设备数 {devices}：预测 {predicted}，实测 {measured}",
    ),
    "schedule_head": (
        "  device, start, length, node",
        "  设备、开始、时长、节点",
    ),
    "schedule_more": ("… and {count} more tasks", "……还有 {count} 个任务"),
    "pass_folded": (
        "it depends on constants alone, so it was computed now",
        "它只依赖常量，因此现在就算好",
    ),
    "pass_merged": (
        "{name} computes the same from the same operands",
        "{name} 用同样的操作数算的是同一个值",
    ),
    "pass_dead": ("nothing needs it", "没有任何地方用到它"),
    "pass_in_place": (
        "nobody reads {name} after it, so the result is written in its place",
        "此后不再有谁读取 {name}，结果直接写在它的位置上",
    ),
    "pass_neutral": (
        "the other operand leaves every number as it is, NaN, infinity and −0 included",
        "另一个操作数不改变任何数，包括 NaN、无穷大和 −0",
    ),
    "pass_twice": ("doing it a second time changes nothing", "再做一次也不会改变结果"),
    "pass_cheaper": (
        "a cheaper operator gives the same bits",
        "换成更省的算子，每一位都相同",
    ),
    "pass_shapes": (
        "the elements keep their order, or come back to it",
        "元素的顺序没有变，或又变了回来",
    ),
    "pass_matrix": (
        "the matrix product can read its operand transposed",
        "矩阵乘法可以直接按转置来读操作数",
    ),
    "pass_fused": (
        "{count} operators work element by element on one shape: one kernel, no array in between",
        "{count} 个算子在同一形状上逐元素计算：合成一个核函数，中间不再产生数组",
    ),
    "pass_fused_product": (
        "what is done to each element of the product is done while the product is at hand",
        "对乘积每个元素要做的事，趁乘积还在手边就一并做完",
    ),
    "pass_stretch": (
        "the operator stretches a single number itself",
        "算子自己就能把单个数广播开",
    ),
    "pass_stretch_later": (
        "all operands are single numbers: one operation on them, and its result is stretched",
        "操作数都只是单个数：对这些数算一次，再把结果广播开",
    ),
    "pass_fast": (
        "equal for finite numbers; NaN, infinity or the sign of 0 may differ",
        "对有限的数相等；NaN、无穷大或 0 的符号可能不同",
    ),
}
