"""The first page of the site: draw a digit, and watch it flow through a network, both ways.

python docs/digit.py writes notebooks/pictures/digit.html, one file that asks for nothing. In the
page, the dynamic graph is the tape of digit/tape.js, made anew with every move of the pen; the
static graph is the program that the engine's `js` executor writes, made here, once.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import minigrad as mg
from viz.page.document import POLICY
from viz.page.sheets import sheets
from viz.picture.fonts import font_face
from viz.words.text import Pair

PARTS = Path(__file__).with_suffix("")
sys.path.append(str(PARTS))

from train import INPUTS, NETWORKS, SIZE, stored  # noqa: E402 — in the folder beside this file

TARGET = Path(__file__).parents[1] / "notebooks" / "pictures" / "digit.html"
SCRIPTS = ("tape.js", "pen.js", "pictures.js", "page.js")
SHOWN = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
OPENING = 3  # the digit that is drawn when the page opens

# What the cards say above the operator's name, in the order in which the operators run.
SIGNS: Mapping[str, Sequence[str]] = {
    "mlp": ("x", "× W₁", "+ b₁", "ReLU", "× W₂", "+ b₂", "softmax"),
    "convnet": (
        *("x", "∗ K₁", "+ c₁", "ReLU", "max", "∗ K₂", "+ c₂", "ReLU", "max", "flatten"),
        *("× W₃", "+ b₃", "softmax"),
    ),
}
OPERATORS: Mapping[str, Pair] = {
    "Placeholder": ("input", "输入"),
    "MatMul": ("matrix product", "矩阵乘法"),
    "Add": ("addition", "加法"),
    "ReLU": ("activation", "激活函数"),
    "Softmax": ("probabilities", "概率"),
    "Conv2d": ("convolution", "卷积"),
    "MaxPool2d": ("max pooling", "最大池化"),
    "Reshape": ("reshape", "变形"),
}
# What the page says; {braces} are filled in by its script.
WORDS: Mapping[str, Pair] = {
    "title": ("Draw a digit. Watch the graph.", "画一个数字，看图怎样运行"),
    "lead": (
        "With every move of your pen, a small network reads the image again, right here in the"
        " page. ",
        "笔每动一下，一个小网络就在这个网页里把图像重新读一遍。",
    ),
    "lead_ways": (
        "A <b>dynamic</b> graph is built while it computes, then thrown away. A <b>static</b> graph"
        " is built once, then only filled.",
        "<b>动态图</b>一边计算一边构建，用完就扔掉。<b>静态图</b>只构建一次，之后只往里填数据。",
    ),
    "dynamic": ("Dynamic graph", "动态图"),
    "dynamic_as": ("as in PyTorch", "PyTorch 的做法"),
    "static": ("Static graph", "静态图"),
    "static_as": ("as in TensorFlow 1", "TensorFlow 1 的做法"),
    "built": ("built", "次构建"),
    "run": ("run", "次运行"),
    "mlp": ("MLP", "MLP"),
    "convnet": ("convnet", "卷积网络"),
    "network": ("Network", "网络"),
    "backward": ("Backward", "反向传播"),
    "slow": ("Slow", "慢放"),
    "clear": ("Clear", "清除"),
    "draw_here": ("Draw here", "在这里画"),
    "pad": (
        "Drawing area of 16 by 16 pixels. Press 0 to 9 for a stored digit. To draw with the keys,"
        " move with the arrows, and put the pen down or lift it with the space bar. Delete clears.",
        "16 × 16 像素的画板。按 0 到 9 选一个存好的数字。也可以用键盘画：方向键移动，空格键落笔或"
        "提笔，Delete 键清除。",
    ),
    "stored": ("Stored digit {digit}", "存好的数字 {digit}"),
    "answers": ("Answers", "答案"),
    "samples": ("Stored digits", "存好的数字"),
    "site": ("How deep-learning frameworks think", "深度学习框架是怎样思考的"),
    "answer": ("{digit}, with {percent} %", "{digit}，概率 {percent} %"),
    "empty": (
        "There's no graph now. Your next stroke builds one.",
        "现在没有图，下一笔会构建一张。",
    ),
    "planned": (
        "{count} operators built, waiting for data",
        "已构建 {count} 个算子，等待数据",
    ),
    "planned_back": (
        "{count} operators + {back} for backward, waiting for data",
        "已构建 {count} 个算子，另有 {back} 个用于反向，等待数据",
    ),
    "recorded": (
        "{count} operators, built as they ran, gone with your next move",
        "{count} 个算子，边运行边构建，笔再动一下就扔掉",
    ),
    "recorded_back": (
        "{count} operators, built as they ran, then {back} runs for backward",
        "{count} 个算子，边运行边构建，反向再运行 {back} 次",
    ),
    "filled": (
        "the same {count} operators, filled with new data",
        "还是那 {count} 个算子，填入了新的数据",
    ),
    "filled_back": (
        "the same {count} operators + {back} for backward, filled anew",
        "还是那 {count} 个算子，加上反向的 {back} 个，填入了新的数据",
    ),
    "records": ("{sign} is built and runs at once", "{sign}：刚构建，当场运行"),
    "fills": ("{sign} runs", "{sign}：运行"),
    "returns": ("the gradient arrives at {sign}", "梯度传回 {sign}"),
    "gone": ("{count} graphs thrown away", "扔掉了 {count} 张图"),
    "gone_one": ("1 graph thrown away", "扔掉了 1 张图"),
    "gone_none": ("nothing thrown away yet", "还没有扔掉过图"),
    "kept": ("one graph, kept", "始终是同一张图"),
    "equal": (
        "✓ {count} numbers compared, equal bit for bit",
        "✓ 对照了 {count} 个数，逐位相同",
    ),
    "near": (
        "{count} numbers compared, at most {difference} apart",
        "对照了 {count} 个数，最多相差 {difference}",
    ),
    "time": ("{time} ms for both", "两张图共 {time} 毫秒"),
    "votes": (
        "<b>Orange</b> pixels speak for {digit}: more ink there raises its score."
        " <em>Violet</em> pixels speak against it.",
        "<b>橙色</b>像素支持 {digit}：那里的墨越多，它的得分越高。<em>紫色</em>像素反对它。",
    ),
    "ask": (
        "Press <b>Backward</b> to see which pixels speak for the answer.",
        "按<b>反向传播</b>，看看哪些像素支持这个答案。",
    ),
    "key_built": ("built", "构建"),
    "key_run": ("run", "运行"),
    "key_gradient": ("gradient", "梯度"),
    "key_gone": ("thrown away", "已扔掉"),
    "key_kept": ("kept", "一直保留"),
    "key_value": ("value − 0 +", "数值 − 0 +"),
    "key_slope": ("gradient − 0 +", "梯度 − 0 +"),
    "source": (
        "The program of the static graph, as minigrad wrote it ({count} lines of JavaScript)",
        "minigrad 为静态图写出的程序（{count} 行 JavaScript）",
    ),
    "no_script": (
        "This page computes in your browser. Turn JavaScript on to draw; in JupyterLab, press"
        " Trust HTML.",
        "这个网页在你的浏览器里计算。要画图，请打开 JavaScript；在 JupyterLab 里请按 Trust HTML。",
    ),
    "lessons": ("The lessons", "全部课程"),
    "moves": (
        "Each column is one move of the pen",
        "每一列是笔的一次移动",
    ),
}


class Link(NamedTuple):
    """Where the page leads: an address, words in both languages, and whose language it is."""

    address: str
    words: Pair
    language: str = ""


def lessons_in(folder: str) -> list[Link]:
    """Return the links to the lessons of either language, as pages to read."""
    return [Link(f"{folder}{code}/index.html", WORDS["lessons"], code) for code in ("en", "zh")]


# ---- The networks ---------------------------------------------------------------------------


def programs(network: str) -> dict[str, Any]:
    """The two static programs of a network, and what its cards show of either.

    One ends in the probabilities; the other goes on to the gradients of the scores, too. Neither
    is optimised: each operator is a step of its own, so that the page can show its value.
    """
    with mg.Graph():
        x = mg.placeholder("x", shape=(1, *INPUTS[network]))
        seed = mg.placeholder("seed", shape=(1, 10))
        parameters = {
            name: mg.Variable(np.zeros_like(value), name=name)  # the page has the values once
            for name, value in stored()[network].items()
        }
        scores = NETWORKS[network](x, *parameters.values())
        answer = mg.softmax(scores, axis=1)
        forward = mg.build_graph(x, answer)
        chain = [node for node in forward.nodes if node.op.name != "Variable"]
        gradients = mg.gradients(scores, chain[:-1], seed)
        both = mg.build_graph([x, seed], [answer, gradients[0]])
        return {
            "programs": [program(graph) for graph in (forward, both)],
            "operators": [operators(graph) for graph in (forward, both)],
            "cards": [
                {
                    "sign": sign,
                    "op": node.op.name,
                    "shape": node.shape,
                    "value": step(node),
                    "gradient": None if gradient is None else step(gradient),
                }
                for sign, node, gradient in zip(
                    SIGNS[network], chain, [*gradients, None], strict=True
                )
            ],
        }


def program(graph: mg.Graph) -> str:
    """JavaScript that runs a graph operator by operator."""
    return mg.compile(graph, optimize=False, executor="js").source


def operators(graph: mg.Graph) -> int:
    """Count what was built: all nodes that compute."""
    given = ("Placeholder", "Variable", "Constant")
    return sum(node.op.name not in given for node in graph.nodes)


def step(node: Any) -> str:
    """The step of a program that has the value of a node: a reshape is no step, but a view."""
    while node.op.name in ("Reshape", "ReshapeLike"):
        node = node.inputs[0]
    return str(node.name)


def packed(values: NDArray[Any]) -> str:
    return base64.b64encode(values.tobytes()).decode()


def samples() -> list[str]:
    """A test image of each digit that both networks read with the widest margin, as bytes."""
    data = mg.data.digits(size=SIZE)
    images = np.round(data.x_test * 255).astype(np.uint8)
    least = np.ones(len(images))
    with mg.no_grad():
        for network, parameters in stored().items():
            x = mg.tensor((images / 255).astype(np.float32).reshape(-1, *INPUTS[network]))
            scores = NETWORKS[network](x, *map(mg.tensor, parameters.values()))
            found = mg.softmax(scores, axis=1).numpy()
            least = np.minimum(least, found[np.arange(len(images)), data.y_test])
    best = [np.where(data.y_test == digit, least, -1).argmax() for digit in SHOWN]
    return [packed(images[i]) for i in best]


def data() -> dict[str, Any]:
    """What the script of the page is given, beside the programs."""
    return {
        "words": WORDS,
        "operators": OPERATORS,
        "parameters": {
            network: {
                name: {"shape": value.shape, "float16": packed(value.astype("<f2"))}
                for name, value in parameters.items()
            }
            for network, parameters in stored().items()
        },
        "samples": samples(),
        "opening": OPENING,
    }


# ---- The page ---------------------------------------------------------------------------------


def script() -> str:
    """The one script of the page."""
    made = {network: programs(network) for network in NETWORKS}
    written = ",\n".join(
        f"{network}: {{ operators: {each['operators']},"
        f" cards: {json.dumps(each['cards'], ensure_ascii=False)},"
        f" programs: [{', '.join(each['programs'])}] }}"
        for network, each in made.items()
    )
    given = re.sub("</", r"<\\/", json.dumps(data(), ensure_ascii=False))
    parts = "".join((PARTS / name).read_text("utf-8") for name in SCRIPTS)
    return f"const GIVEN = {given};\nconst PROGRAMS = {{ {written} }};\n{parts}"


def both(pair: Pair) -> str:
    """Both languages, of which a style shows one."""
    return f'<span lang="en">{pair[0]}</span><span lang="zh-Hans">{pair[1]}</span>'


def link(each: Link) -> str:
    language = f' data-for="{each.language}"' if each.language else ""
    return f'<a class="go" href="{escape(each.address)}"{language}>{both(each.words)} →</a>'


def page(links: Sequence[Link] = (), head: str = "", below: str = "", scripts: str = "") -> str:
    """The page as one HTML file.

    links: shown at the top right. head, below: HTML that a site adds to its head and beneath.
    scripts: where scripts of the site lie that the page may load, too, as a policy says it.
    """
    html = (PARTS / "page.html").read_text("utf-8")
    code = script()
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = POLICY.format(digest=digest)
    policy = policy.replace("script-src ", f"script-src {scripts} ") if scripts else policy
    for key, pair in WORDS.items():
        html = html.replace(f"@{key}@", both(pair))
    places = {"POLICY": policy, "LINKS": " ".join(map(link, links)), "HEAD": head, "BELOW": below}
    for name, value in places.items():
        html = html.replace(f"<!--{name}-->", value)
    css = sheets("theme", "language", "page", drawings=False)
    css += (PARTS / "page.css").read_text("utf-8")
    css = font_face(html + code, latin=True) + css
    return html.replace("/*STYLE*/", css).replace("/*SCRIPT*/", code)


def main() -> None:
    TARGET.write_text(page(), "utf-8")
    print(f"{TARGET}  {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
