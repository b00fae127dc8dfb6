"""Every sentence that is shown, in both languages, one row each; and how a row becomes text.

A row is `key: (English, 中文)` with the same `{fields}` in both halves. HTML carries both halves,
each in an element with its `lang`, and one style rule shows the chosen one, so a page changes its
language without a kernel. What is printed follows the language chosen when it is printed.
The engine's error messages are the rows of `minigrad.messages`.
"""

from __future__ import annotations

from html import escape

from minigrad.messages import Pair, choose, fill_pair

__all__ = ["Pair", "bilingual", "both", "choose", "html", "printed", "row"]


def row(key: str, **fields: object) -> Pair:
    """The row of `key`, with its fields filled in. A field may itself be a pair."""
    return fill_pair(ROWS[key], fields)


def bilingual(pair: Pair, tag: str = "span") -> str:
    """A pair as two HTML elements, escaped, of which the style rule shows one or both.

    Halves that are the same, such as numbers, are one element without a language.
    """
    if pair[0] == pair[1]:
        return f"<{tag}>{escape(pair[0])}</{tag}>"
    return " ".join(
        f'<{tag} lang="{lang}">{escape(text)}</{tag}>'
        for lang, text in zip(("en", "zh"), pair, strict=True)
    )


def html(key: str, tag: str = "span", **fields: object) -> str:
    """A row as HTML in both languages."""
    return bilingual(row(key, **fields), tag)


def both(pair: Pair) -> str:
    """A pair on one line, for attributes (labels for screen readers), which no style rule reaches."""
    return pair[0] if pair[0] == pair[1] else " / ".join(pair)


def printed(key: str, **fields: object) -> str:
    """A row as plain text in the chosen language."""
    return choose(row(key, **fields))


ROWS: dict[str, Pair] = {
    # language switch
    "language": ("Language", "语言"),
    "language_set": ("Language: English", "语言：中文"),
    "language_unknown": (
        'viz.language takes "en", "zh" or "both", not {value}.',
        'viz.language 只接受 "en"、"zh" 或 "both"，不接受 {value}。',
    ),
    # pictures in words
    "graph_empty": (
        "Nothing to draw: this graph has no nodes yet. Build a node first, for example "
        'mg.placeholder("x"), or compute something from a tensor with requires_grad=True.',
        '没有可画的内容：这张图还没有节点。先建一个节点，例如 mg.placeholder("x")，'
        "或用 requires_grad=True 的张量做一次运算。",
    ),
    "cannot_draw": (
        "viz cannot draw {value}. It draws a tensor, a graph node, a graph, a recording "
        "(viz.timeline), or a list of tensors or of nodes.",
        "viz 无法绘制 {value}。可以绘制张量、图节点、计算图、事件记录（viz.timeline），以及张量或节点的列表。",
    ),
    "cannot_step": (
        "This tape cannot be run again: it did not keep an operand of {op}, because no gradient "
        "needs it. Remedy: pass a function, viz.step(lambda: f(x)).",
        "这条磁带无法再次运行：它没有保留 {op} 的某个操作数，因为没有梯度需要它。"
        "解决办法：传入函数，viz.step(lambda: f(x))。",
    ),
    "cannot_step_freed": (
        "This tape cannot be run again: backward has freed what it had saved, and with it an operand "
        "of {op}. Remedy: viz.step before backward(), or pass a function, viz.step(lambda: f(x)).",
        "这条磁带无法再次运行：backward 已经释放了它保存的值，其中有 {op} 的一个操作数。"
        "解决办法：在 backward() 之前调用 viz.step，或传入函数，viz.step(lambda: f(x))。",
    ),
    "step_failed": ("stopped: {message}", "出错停止：{message}"),
    "too_large": (
        "{nodes:node} are too many to lay out. Group them with mg.name_scope, or draw a part: "
        "viz.draw(node) of an inner node. The table of nodes is shown instead.",
        "{nodes} 个节点太多，无法排版。可以用 mg.name_scope 分组，或只画一部分："
        "对内部节点调用 viz.draw(node)。下面改为显示节点表。",
    ),
    "no_layout": (
        "Nothing can be drawn here: there is no `dot` on the PATH, graphviz-pure is not installed, and "
        "pygraphviz {pygraphviz}. To get drawings, type {pip} and restart the kernel; where there is no "
        "graphviz-pure for your system, {system}. The table is shown instead.",
        "这里无法画图：PATH 中没有 dot，没有安装 graphviz-pure，pygraphviz {pygraphviz}。"
        "要得到图形，请输入 {pip}，然后重启内核；如果你的系统没有 graphviz-pure，请用 {system}。"
        "下面用表格代替。",
    ),
    "engine_absent": ("is not installed", "也没有安装"),
    "engine_broken": ("cannot be loaded ({reason})", "无法加载（{reason}）"),
    "layout_failed": (
        "Graphviz stopped: {reason}. The table of nodes is shown instead.",
        "Graphviz 出错：{reason}。下面改为显示节点表。",
    ),
    "save_format": (
        "cannot save as {suffix}: choose one of {known}.",
        "无法保存为 {suffix}：请从 {known} 中选择。",
    ),
    "heading": ("{title}: {formula}", "{title}：{formula}"),
    "unfolded": ("Show everything: {nodes:node}", "全部展开：{nodes} 个节点"),
    "draw_unrun": (
        "Built before running: nodes have shapes and no values. viz.step(…, feed_dict) runs it.",
        "在运行之前构建：节点有形状，没有值。用 viz.step(…, feed_dict) 运行它。",
    ),
    "draw_freed": (
        "backward has freed the values that this tape had saved. Its nodes are still here; for "
        "another backward run the forward pass again.",
        "backward 已经释放这条磁带保存的值。节点都还在；要再次反向传播，请重新运行前向传播。",
    ),
    "open_unknown": (
        "viz.draw: there is nothing named {name} to open. There is: {known}.",
        "viz.draw：没有名为 {name} 的内容可以展开。可展开的有：{known}。",
    ),
    "cli_usage": (
        "draw a graph: python -m viz FILE.py:NAME -o out.svg",
        "绘制计算图：python -m viz FILE.py:NAME -o out.svg",
    ),
    "cli_what": (
        "the file to run, and the name in it of a tensor, a node, a graph or a function to draw",
        "要运行的文件，以及其中要绘制的张量、节点、计算图或函数的名字",
    ),
    "cli_out": ("file to write: {known}; none prints text", "输出文件：{known}；不给则打印文本"),
    "cli_form": (
        "{given} is not of the form FILE.py:NAME.",
        "{given} 不符合 FILE.py:NAME 的形式。",
    ),
    "cli_file": ("There is no file {file}.", "没有文件 {file}。"),
    "cli_name": (
        "{file} has no name {name}. It has: {known}.",
        "{file} 中没有名字 {name}。其中有：{known}。",
    ),
    "cli_failed": ("{file} stopped: {error}", "{file} 出错停止：{error}"),
    "table": ("Show the same as a table", "以表格显示同样的内容"),
    "table_more": ("… and {count} more nodes", "……还有 {count} 个节点"),
    "alt_dynamic": (
        "Dynamic graph recorded while running: {nodes:node}, {edges:edge}. {path}",
        "运行时记录的动态图：{nodes} 个节点，{edges} 条边。{path}",
    ),
    "alt_static": (
        "Static graph built before running: {nodes:node}, {edges:edge}. {path}",
        "运行之前构建的静态图：{nodes} 个节点，{edges} 条边。{path}",
    ),
    "alt_path": ("From {start} to {end}.", "从 {start} 到 {end}。"),
    "kind_dynamic": ("dynamic graph", "动态图"),
    "kind_static": ("static graph", "静态图"),
    "column_node": ("node", "节点"),
    "column_operator": ("operator", "算子"),
    "column_inputs": ("inputs", "输入"),
    "column_shape": ("shape", "形状"),
    "column_group": ("layer", "层"),
    "page": ("Computation graphs", "计算图"),
    # the player
    "player": ("Graph player", "计算图播放器"),
    "first": ("first step", "第一步"),
    "back": ("step back", "上一步"),
    "forward": ("step forward", "下一步"),
    "last": ("last step", "最后一步"),
    "play": ("play or pause", "播放或暂停"),
    "position": ("step", "步骤"),
    "zoom_in": ("larger", "放大"),
    "zoom_out": ("smaller", "缩小"),
    "fit": ("fit", "适应窗口"),
    "fold": ("fold layers", "折叠各层"),
    "keys": (
        "Keys: ← → step, Home End first and last, space plays, ↑ ↓ go from node to node, "
        "o opens and closes a group, + − 0 zoom; or click a node, an arrow, a button.",
        "按键：← → 单步，Home End 到首尾，空格播放，↑ ↓ 逐个查看节点，o 展开或收起一组，"
        "+ − 0 缩放；也可以点击节点、箭头和按钮。",
    ),
    # a diagram, in which nothing moves
    "still_player": ("Diagram", "计算图"),
    "still_keys": (
        "Keys: ↑ ↓ go from node to node, o opens and closes a group, + − 0 zoom; or click a node, "
        "an arrow, a button; a double click opens and closes a group.",
        "按键：↑ ↓ 逐个查看节点，o 展开或收起一组，+ − 0 缩放；也可以点击节点、箭头和按钮，"
        "双击可展开或收起一组。",
    ),
    "still_select": (
        "Click a node to see what it computes and the line that made it.",
        "点击节点，查看它计算什么，以及由哪一行代码产生。",
    ),
    "player_empty": (
        "Run this cell: the drawing grows while its lines run.",
        "运行这个单元格：图会随着每一行代码生长。",
    ),
    "clocks": ("Clocks", "时钟"),
    "clock_of": ("{kind}: {clock}", "{kind}：{clock}"),
    "clock_built": ("built", "构建"),
    "clock_run": ("run", "运行"),
    "clock_gradient": ("gradient", "梯度"),
    "value": ("value", "值"),
    "gradient": ("gradient", "梯度"),
    "shape": ("shape", "形状"),
    "line": ("line", "代码行"),
    "formula": ("formula", "公式"),
    "saved": ("saved for backward", "为反向传播保存"),
    "nothing_saved": ("nothing", "无"),
    "not_computed": ("not computed", "未计算"),
    "kind": ("kind", "种类"),
    "inputs": ("inputs", "输入"),
    "flows": ("what flows here", "流经这里的内容"),
    "legend": ("What shapes and colours mean", "形状和颜色的含义"),
    "program": ("the program", "程序"),
    "open_group": ("open", "展开"),
    "close_group": ("close", "收起"),
    "made_by": ("result of", "由谁算出"),
    "need_kernel": (
        "To move the inputs, run the notebook: this page has no kernel.",
        "要改变输入，请运行笔记本：这个页面没有内核。",
    ),
    "not_yet": ("no value yet", "还没有值"),
    "select": (
        "Click a node to see its value and its gradient.",
        "点击节点，查看它的值和梯度。",
    ),
    # steps in words
    "step_start": ("Nothing has happened yet. Press → to begin.", "还什么都没有发生。按 → 开始。"),
    "step_built": (
        "built: {name} = {formula}. It has a shape, but no value.",
        "构建：{name} = {formula}。它有形状，但还没有值。",
    ),
    "step_built_open": (
        "built: {name} = {formula}. It has no value, and even its shape is not known yet.",
        "构建：{name} = {formula}。它还没有值，连形状也还不知道。",
    ),
    "step_read": ("{name} receives its value: {value}", "{name} 得到它的值：{value}"),
    "step_run": ("run: {name} = {formula} = {value}", "运行：{name} = {formula} = {value}"),
    "step_both": (
        "run and recorded at once: {name} = {formula} = {value}",
        "边运行边记录：{name} = {formula} = {value}",
    ),
    "step_freed": (
        "freed: {names}. Nothing refers to this part of the graph any more.",
        "已释放：{names}。图的这一部分不再被任何东西引用。",
    ),
    "step_inside": ("inside {place} — {what}", "在 {place} 内部——{what}"),
    "step_loop": ("{name} begins step {number} of its loop", "{name} 开始循环的第 {number} 步"),
    "tick": ("{clock} {number}", "{clock} {number}"),
    "step_tick": ("[{ticks}] {what}", "[{ticks}] {what}"),
    "step_seed": (
        "backward starts at the output: ∂{name}/∂{name} = {value}",
        "反向传播从输出开始：∂{name}/∂{name} = {value}",
    ),
    "step_contributed": (
        "{source} passes back to {name}: upstream × local = {upstream} × {local} = {part}",
        "{source} 向 {name} 回传：上游 × 局部 = {upstream} × {local} = {part}",
    ),
    "step_accumulated": (
        "{source} passes back to {name} again: {before} + {part} = {total}",
        "{source} 再次向 {name} 回传：{before} + {part} = {total}",
    ),
    "step_rule": (
        "{source} passes back to {name}, where ∂ is the upstream gradient: {local} = {part}",
        "{source} 向 {name} 回传，其中 ∂ 是上游梯度：{local} = {part}",
    ),
    "step_passed": (
        "{source} passes back to {name} through its insides: {upstream} becomes {part}",
        "{source} 通过其内部向 {name} 回传：{upstream} 变为 {part}",
    ),
    "step_returned": ("{source} passes back to {name}", "{source} 向 {name} 回传"),
    "step_gradients": (
        "mg.gradients builds {count} more nodes for the backward pass. Still nothing has run.",
        "mg.gradients 为反向传播又构建了 {count} 个节点。到此仍然没有任何运行。",
    ),
    "step_done": ("done: {counts}.", "完成：{counts}。"),
    "done_built": ("{count:node} built", "构建 {count} 个节点"),
    "done_read": ("{count:value} received", "接收 {count} 个值"),
    "done_run": ("{count:operator} run", "运行 {count} 个算子"),
    "done_parts": ("{count:contribution} passed back", "回传 {count} 份梯度"),
    # charts of schedules, of memory, of ratios
    "schedule_unknown": (
        "viz.schedule draws a program (graph.compile()) or a schedule, not {value}.",
        "viz.schedule 绘制程序（graph.compile()）或调度，不能绘制 {value}。",
    ),
    "chart_schedule": ("Schedule over {devices:device}", "{devices} 个设备上的调度"),
    "chart_schedule_alt": (
        "Gantt chart: Schedule over {devices:device}. {tasks:task}. …; "
        "critical path: {length}, {count:task}.",
        "甘特图：{devices} 个设备上的调度。共 {tasks} 个任务。…；关键路径 {length}，{count} 个任务。",
    ),
    "chart_predicted": ("predicted: {time}", "预测：{time}"),
    "chart_measured": ("measured: {time}", "实测：{time}"),
    "chart_task": ("task", "任务"),
    "chart_device": ("device", "设备"),
    "chart_start": ("start", "开始"),
    "chart_length": ("length", "时长"),
    "chart_path": ("critical", "关键路径"),
    "chart_device_measured": ("device, measured", "设备（实测）"),
    "chart_start_measured": ("start, measured", "开始（实测）"),
    "chart_length_measured": ("length, measured", "时长（实测）"),
    "chart_more": ("… and {count} more", "……还有 {count} 个"),
    "chart_on": ("device {device}", "设备 {device}"),
    "chart_time": ("time in {unit}", "时间（{unit}）"),
    "chart_on_path": ("on the critical path", "在关键路径上"),
    "chart_off_path": ("other tasks", "其他任务"),
    "chart_fewer_tried": (
        "Devices used: {used}. When run, {devices:device} took {many}, {used} took {few}.",
        "实际使用的设备数为 {used}：运行时 {devices} 个设备用时 {many}，{used} 个用时 {few}。",
    ),
    "chart_fewer": (
        "Devices used: {used}. Handing tasks over would cost more: {many} on {devices:device}, "
        "{few} on {used}.",
        "实际使用的设备数为 {used}：移交任务的开销更大，{devices} 个设备需 {many}，{used} 个需 {few}。",
    ),
    "memory_unknown": (
        "viz.memory draws a program (graph.compile()), or a function of tensors with arrays for "
        "it, not {value}.",
        "viz.memory 绘制程序（graph.compile()），或者一个张量函数连同它的输入数组，不能绘制 {value}。",
    ),
    "chart_memory": ("Memory", "内存"),
    "chart_memory_alt": (
        "Three charts of the memory of a program. Its {values:value} share an arena of {arena}; "
        "with a buffer each they would take {apart}. Kept for the backward pass: {retained}.",
        "程序内存的三张图。{values} 个值共用大小为 {arena} 的内存池；各用一个缓冲区则需要 {apart}。"
        "为反向传播保留：{retained}。",
    ),
    "chart_memory_alt_eager": (
        "With its results, the program holds {results}. The dynamic graph with its own holds at "
        "most {peak}, and keeps {retained} for the backward pass. In both, results of kernels are counted: neither Python's objects nor what a kernel "
        "needs while it works.",
        "程序连同它的结果共占 {results}。动态图连同结果，峰值至多为 {peak}，为反向传播保留 {retained}。"
        "两种图都只计算核函数的结果，不含 Python 自身的对象，也不含核函数工作时的临时空间。",
    ),
    "chart_memory_alt_other": (
        "Program {number}, for comparison, has an arena of {arena}.",
        "用于比较的程序 {number}，其内存池为 {arena}。",
    ),
    "chart_arena_other": ("arena of program {number}", "程序 {number} 的内存池"),
    "chart_line_other": ("program {number}, values alive", "程序 {number}，存活的值"),
    "chart_value": ("value", "值"),
    "chart_first_step": ("first step", "起始步"),
    "chart_last_step": ("last step", "结束步"),
    "chart_bytes": ("size", "大小"),
    "chart_offset": ("offset", "偏移"),
    "chart_retained": ("kept for backward", "为反向传播保留"),
    "chart_arena": ("arena", "内存池"),
    "chart_apart": ("with a buffer each", "各用一个缓冲区"),
    "chart_arena_results": ("arena and results", "内存池与结果"),
    "chart_kept_planned": ("kept for backward, static", "为反向传播保留（静态图）"),
    "chart_kept_eager": ("kept for backward, dynamic", "为反向传播保留（动态图）"),
    "chart_eager_peak": ("peak, dynamic, at most", "峰值内存的上限（动态图）"),
    "chart_in_use": ("memory in use, {unit}", "使用中的内存（{unit}）"),
    "chart_in_use_both": (
        "memory in use, forward and backward, {unit}",
        "前向与反向过程中使用的内存（{unit}）",
    ),
    "chart_progress": ("progress of the run, %", "运行进度（%）"),
    "chart_line_eager": ("dynamic, at most", "动态图，上限"),
    "chart_line_alive": ("static, values alive", "静态图，存活的值"),
    "chart_line_arena": ("static, arena", "静态图，内存池"),
    "chart_line_apart": ("a buffer each", "各用一个缓冲区"),
    "chart_lifetimes": (
        "lifetimes of {shown} of {values:value}",
        "{values} 个值中 {shown} 个的生命周期",
    ),
    "chart_kept": ("kept for backward", "为反向传播保留"),
    "chart_brief": ("other values", "其他值"),
    "chart_map": ("places in the arena, {unit}", "在内存池中的位置（{unit}）"),
    "chart_step": ("step of the program", "程序步骤"),
    "chart_ratios": ("Ratios of the time taken", "用时之比"),
    "chart_ratios_alt": (
        "Dot chart: Ratios of the time taken. {all}.",
        "点图：用时之比。{all}。",
    ),
    "chart_span": ("{middle} ({low} to {high})", "{middle}（{low} 至 {high}）"),
    "chart_workload": ("workload", "工作负载"),
    "chart_median": ("median", "中位数"),
    "chart_lowest": ("lowest", "最小值"),
    "chart_highest": ("highest", "最大值"),
    "chart_ratio_axis": ("ratio; left of 1: quicker", "比值；在 1 的左边：更快"),
    "ratios_none": (
        "viz.ratios: there is no ratio to draw for workloads that contain {only}. "
        "Remedy: python tasks.py bench --json FILE.",
        "viz.ratios：名称含 {only} 的工作负载没有可画的比值。"
        "解决办法：python tasks.py bench --json FILE。",
    ),
    "ratios_form": (
        "viz.ratios reads what python tasks.py bench --json FILE wrote, and this has another form.",
        "viz.ratios 读取 python tasks.py bench --json FILE 写出的数据，而这里的格式不同。",
    ),
    # images
    "images_unequal": ("{count:image} of different sizes", "{count} 张大小不一的图像"),
    "images": (
        "{count:image} of {height} × {width:pixel}",
        "{count} 张图像，每张 {height} × {width} 像素",
    ),
    "image_alt": ("image {number}, label {label}", "第 {number} 张图像，标签 {label}"),
    "images_shape": (
        "viz.images takes an array (n, height, width), got shape {shape}. "
        "Remedy: x.reshape(-1, 8, 8).",
        "viz.images 需要形状为 (n, height, width) 的数组，实际为 {shape}。"
        "解决办法：x.reshape(-1, 8, 8)。",
    ),
    "images_labels": (
        "viz.images got {labels:label} for {count:image}. Remedy: one label for each image.",
        "viz.images 收到 {count} 张图像，却有 {labels} 个标签。解决办法：每张图像给一个标签。",
    ),
    # comparison
    "equal_bits": (
        "checked: values and gradients of both graphs are equal, bit for bit",
        "已检验：两张图的值和梯度逐位相等",
    ),
    "unequal_bits": (
        "checked: the two graphs differ by up to {difference}",
        "已检验：两张图最多相差 {difference}",
    ),
    "summary_array": (
        "{shape}, mean {mean}, from {low} to {high}",
        "{shape}，均值 {mean}，范围 {low} 到 {high}",
    ),
    "summary_same": ("{shape}, every element {value}", "{shape}，每个元素都是 {value}"),
    "summary_bad": (
        "{shape}, {bad} NaN or infinite",
        "{shape}，{bad} 个 NaN 或无穷大",
    ),
    "summary_unrecorded": ("? (not recorded)", "?（没有记录）"),
    "summary_empty": ("{shape}, no elements", "{shape}，没有元素"),
    # boards: marks on nodes, and what is the same in all of them
    "board_keys": (
        "Keys: ← → step, Home End first and last, space plays, + − 0 zoom; click a node to see its line.",
        "按键：← → 单步，Home End 到首尾，空格播放，+ − 0 缩放；点击节点可查看它的代码行。",
    ),
    "board_still_keys": (
        "Keys: + − 0 zoom; click a node to see its line.",
        "按键：+ − 0 缩放；点击节点可查看它的代码行。",
    ),
    "board_live": ("(to switch, run the notebook)", "（要切换，请运行笔记本）"),
    "board_empty": ("Nothing to show yet.", "还没有可显示的内容。"),
    "alt_marks": ("Marked: {marks}.", "标记：{marks}。"),
    "mark_ran": ("ran", "运行过"),
    "mark_ghost": ("not run for this input", "对这个输入没有运行"),
    "mark_absent": ("not in the graph of this input", "不在这个输入的图里"),
    "mark_baked": ("baked in, and right here by chance", "固化在图中，这里碰巧正确"),
    "mark_wrong": ("baked in, and wrong for this input", "固化在图中，对这个输入是错的"),
    "mark_gone": ("removed", "被移除"),
    "mark_new": ("new", "新建"),
    "mark_heir": ("takes over the work of a removed node", "接替被移除的节点"),
    "mark_moved": ("same operator on other operands", "算子相同，操作数换了"),
    "mark_now": ("now", "当前"),
    "mark_waits": ("has not run yet", "还没有运行"),
    "mark_failed": ("failed here", "在此出错"),
    "mark_kept": ("kept for the backward pass", "为反向传播保存"),
    "mark_ready": ("ready to run", "就绪，可以运行"),
    "mark_again": ("dropped, and computed again", "丢弃，之后重计算"),
    # checkpoints
    "checkpoints_slider": ("memory budget", "内存预算"),
    "checkpoints_whole": (
        "no budget: values kept for the backward pass: {kept}, computed again: none",
        "不设预算：为反向传播保存 {kept} 个值，不重计算",
    ),
    "checkpoints_step": (
        "at most {budget}: values kept: {kept}, computed again: {again}",
        "至多 {budget}：保存 {kept} 个值，重计算 {again} 个",
    ),
    "checkpoints_forward": ("the forward pass", "前向传播"),
    "checkpoints_use": ("in use at each step", "每一步占用的内存"),
    "checkpoints_peak": (
        "at most {peak}, at step {at} of {steps}; dashed line: the budget; dotted line: the backward "
        "pass begins",
        "最多 {peak}，在第 {at} 步，共 {steps} 步；虚线：预算；点线：反向传播由此开始",
    ),
    "checkpoints_arena": (
        "arena {arena} instead of {whole}; kernels {kernels} instead of {before}",
        "内存池 {arena}，原为 {whole}；核函数 {kernels} 个，原为 {before} 个",
    ),
    "checkpoints_proof": (
        "checked by running both graphs: all {count} results are equal, bit for bit",
        "已运行两张图检验：全部 {count} 个结果逐位相等",
    ),
    "checkpoints_unequal": (
        "checked by running both graphs: results are NOT equal",
        "已运行两张图检验：结果不相等",
    ),
    "checkpoints_least": (
        "no choice of values to compute again needs less than {least}",
        "无论重计算哪些值，所需内存都不少于 {least}",
    ),
    "checkpoints_budget": ("budget", "预算"),
    "checkpoints_bytes": ("arena", "内存池"),
    "checkpoints_again": ("computed again", "重计算"),
    "checkpoints_kernels": ("kernels", "核函数"),
    "checkpoints_none": ("none", "不设"),
    "checkpoints_kind": (
        "viz.checkpoints takes a graph with gradients, or a function and arrays for it, not {value}.",
        "viz.checkpoints 需要带有梯度的计算图，或者一个函数及其数组，不接受 {value}。",
    ),
    # passes
    "passes_slider": ("optimisation pass", "优化 Pass"),
    "passes_start": (
        "before the first pass: {nodes:node}, {kernels:kernel}, {bytes:byte} planned",
        "第一个 Pass 之前：{nodes} 个节点，{kernels} 个核函数，规划 {bytes} 字节",
    ),
    "passes_step": (
        "{name}: {before} → {after:node}",
        "{name}：{before} → {after} 个节点",
    ),
    "passes_end": (
        "all passes together: {before} → {after:node}",
        "所有 Pass 合计：{before} → {after} 个节点",
    ),
    "passes_before": ("before", "之前"),
    "passes_after": ("after", "之后"),
    "passes_change": ("{what}: {why}", "{what}：{why}"),
    "passes_more": ("… and {count} more changes", "……还有 {count} 处改动"),
    "passes_counts": (
        "nodes {nodes}, kernels {kernels}, bytes planned {bytes}",
        "节点 {nodes}，核函数 {kernels}，规划字节 {bytes}",
    ),
    "passes_idle": ("nothing to do: {names}", "无事可做：{names}"),
    "passes_proof": (
        "checked by running both graphs: outputs ({outputs}) {first}; gradients ({gradients}) {second}",
        "已运行两张图检验：输出（{outputs} 个）{first}；梯度（{gradients} 个）{second}",
    ),
    "passes_equal": ("equal, bit for bit", "逐位相等"),
    "passes_differ": ("at most {difference} apart", "最多相差 {difference}"),
    "passes_drawn": (
        "inputs drawn at random for the check: {names}",
        "检验所用的随机输入：{names}",
    ),
    "passes_graph": (
        "viz.passes takes a graph from mg.build_graph, not {value}.",
        "viz.passes 需要由 mg.build_graph 得到的计算图，不接受 {value}。",
    ),
    # branches
    "branches_slider": ("input", "输入"),
    "branches_any": ("any {name}", "任意 {name}"),
    "branches_step": ("{inputs}: {results}", "{inputs}：{results}"),
    "branches_function": (
        "viz.branches takes a function of tensors and an example for each argument, not {value}.",
        "viz.branches 需要一个以张量为参数的函数，以及每个参数的一个例子，不接受 {value}。",
    ),
    "branches_ways": (
        "viz.branches shows these ways: {known}; not {value}.",
        "viz.branches 能显示的方式有：{known}；没有 {value}。",
    ),
    "branches_source": ("the function", "函数"),
    "branches_eager": ("eager", "即时执行"),
    "branches_static": ("static", "静态"),
    "branches_trace": ("trace", "追踪"),
    "branches_script": ("script", "脚本"),
    "branches_recorded": (
        "{way}: {nodes:node} in the graph of this input; each of them ran",
        "{way}：这个输入的图里有 {nodes} 个节点，每个都运行了",
    ),
    "branches_sizes": (
        "{way}: {nodes:node} in the graph for every input, {ran} of them run for this one",
        "{way}：无论输入是什么，图中都是 {nodes} 个节点；这次运行其中的 {ran} 个",
    ),
    "branches_loop": (
        "the loop in the graph made {steps:step}; eager recorded {eager:operator}, one after the other",
        "图中的循环走了 {steps} 步；即时执行逐个记录了 {eager} 个算子",
    ),
    # traces
    "tape_tensors": (
        "viz.tape takes tensors, not {value}. A static graph has no tape: its gradients are nodes, "
        "made by mg.gradients.",
        "viz.tape 只接受张量，不接受 {value}。静态图没有磁带：它的梯度也是节点，由 mg.gradients 生成。",
    ),
    "tape_caption": (
        "tape: {nodes:node}, {saved} of them with saved values",
        "磁带：{nodes} 个节点，其中 {saved} 个存有值",
    ),
    "tape_node": ("node", "节点"),
    "tape_saved": ("saved", "保存的值"),
    "gradient_function": ("gradient function", "梯度函数"),
    "tape_dropped": ("used and dropped", "用过，已释放"),
    "tape_to": ("to {name}: {formula}", "传给 {name}：{formula}"),
    "gradients_result": (
        "viz.gradient_check needs a function that returns a tensor, not {value}.",
        "viz.gradient_check 需要返回张量的函数，而不是 {value}。",
    ),
    "gradients_caption": (
        "gradient check: {agreeing} of {inputs} agree",
        "梯度检验：{inputs} 个输入中有 {agreeing} 个一致",
    ),
    "gradients_input": ("input", "输入"),
    "gradients_backward": ("backward", "反向传播"),
    "gradients_differences": ("central differences", "中心差分"),
    "gradients_difference": ("difference", "差"),
    "traces_function": (
        "viz.traces takes a function made by mg.function or mg.script, and a recording of its calls "
        "(mg.record), not {value}.",
        "viz.traces 需要由 mg.function 或 mg.script 得到的函数，以及它的调用记录（mg.record），不接受 {value}。",
    ),
    "traces_call": ("call", "调用"),
    "traces_trace": ("trace", "追踪结果"),
    "traces_event": ("what happened", "发生了什么"),
    "traces_arguments": ("arguments", "参数"),
    "traces_why": ("what forced it", "是什么迫使重新追踪"),
    "traces_new": ("traced", "追踪"),
    "traces_hit": ("found in the cache", "命中缓存"),
    "traces_made": (
        "call {call} made trace {number}: {why}",
        "第 {call} 次调用做了追踪 {number}：{why}",
    ),
    "traces_used": ("call {call} used trace {number}", "第 {call} 次调用使用了追踪 {number}"),
    "traces_graph": (
        "graph of trace {number}, which served {calls:call} so far",
        "追踪 {number} 的图，至今服务了 {calls} 次调用",
    ),
    "traces_failed": (
        "An error stopped this trace; it was not kept.",
        "这次追踪因错误而停止，没有保留。",
    ),
    "traces_total": (
        "{function}: {calls:call}, {traces:trace}",
        "{function}：{calls} 次调用，{traces} 次追踪",
    ),
    "traces_cache": (
        "{function}: {traces:trace} in the cache",
        "{function}：缓存中有 {traces} 个追踪",
    ),
    # lazy batching
    "batches_kind": (
        "viz.batches takes a recording of a block with mg.lazy_batch(), or a function without arguments "
        "that computes a loss, not {value}.",
        "viz.batches 需要一份包含 mg.lazy_batch() 的事件记录，或一个没有参数、计算损失的函数，不接受 {value}。",
    ),
    "batches_none": (
        "nothing in this recording was batched. Remedy: with mg.record() as log, mg.lazy_batch(): …",
        "这份记录里没有成批运行的运算。解决办法：with mg.record() as log, mg.lazy_batch(): …",
    ),
    "batches_group": ("group", "组"),
    "batches_operator": ("operator", "算子"),
    "batches_members": ("operations", "运算数"),
    "batches_depth": ("depth", "深度"),
    "batches_how": ("how", "方式"),
    "batches_batched": ("as one kernel, a row for each", "合成一个核函数，每个运算占一行"),
    "batches_alone": ("alone", "单独运行"),
    "batches_once": ("once, for all", "只算一次，结果共用"),
    "batches_singly": ("one by one", "逐个运行"),
    "batches_sum": ("as one running sum", "合成一次累加求和"),
    "batches_trees": (
        "the samples, and the group in which each operation ran",
        "各个样本，以及每个运算所在的组",
    ),
    "batches_start": (
        "{operations:operation} were noted and have not run; they will run in {groups:group}",
        "已记下 {operations} 个运算，都还没有运行；它们将分 {groups} 组运行",
    ),
    "batches_step": (
        "group {number}: {op} × {size}, {how}",
        "第 {number} 组：{op} × {size}，{how}",
    ),
    "batches_measured": (
        "kernels: {plain} without batching, {kernels} with it",
        "核函数：不成批 {plain} 个，成批 {kernels} 个",
    ),
    "batches_counted": (
        "{operations:operation} of the samples ran with {kernels:kernel}",
        "各样本的 {operations} 个运算用了 {kernels} 个核函数",
    ),
    # errors
    "error_none": (
        "viz.error takes an exception that was raised, not {value}.",
        "viz.error 需要一个已经抛出的异常，不接受 {value}。",
    ),
    "error_summary": ("{kind} — {message}", "{kind}——{message}"),
    "error_graph": ("the graph as far as it came", "出错时的图"),
    "error_defined": ("defined here", "在这里定义"),
    "error_ran": ("run here", "在这里运行"),
    "error_line": ("{what}: {where}", "{what}：{where}"),
    # training
    "train_steps": (
        "viz.train takes a number of steps, or batches to go through, not {value}.",
        "viz.train 需要步数，或要遍历的批次，不接受 {value}。",
    ),
    "train_number": (
        "log: {name} is not a single number: {value}. Remedy: {name}.item() of a tensor with one "
        "element, or its mean.",
        "log：{name} 不是单个数：{value}。解决办法：对只有一个元素的张量用 {name}.item()，或取平均值。",
    ),
    "train_ready": ("ready: step {done} of {total}", "就绪：{done} / {total} 步"),
    "train_running": ("running: step {done} of {total}", "进行中：{done} / {total} 步"),
    "train_done": ("done: step {done} of {total}", "完成：{done} / {total} 步"),
    "train_stopped": ("stopped: step {done} of {total}", "已停止：{done} / {total} 步"),
    "train_loss": ("Training", "训练"),
    "train_norms": ("Norm of the gradient, layer by layer", "各层梯度的范数"),
    "train_step": ("step", "步"),
    "train_value": ("value", "值"),
    "train_norm": ("norm", "范数"),
    "train_log": ("(logarithmic)", "（对数刻度）"),
    "train_elapsed": ("{elapsed} s so far", "已用 {elapsed} 秒"),
    "train_left": ("{elapsed} s so far, {left} s left", "已用 {elapsed} 秒，剩余 {left} 秒"),
    "train_progress": ("progress", "进度"),
    # questions and checks
    "ask_kind_question": ("question of this kind", "这一类题目"),
    "ask_kind_check": ("check", "检验"),
    "ask_kind_table": ("table", "表格"),
    "ask_kind_lesson": ("lesson", "课"),
    "ask_kind_claim": ("claim", "论断"),
    "ask_unknown": (
        "There is no {kind} named {id}. Known: {known}.",
        "没有名为 {id} 的{kind}。已有：{known}。",
    ),
    "ask_fields": (
        "Claim {id} of {lesson} shows what was measured, and nothing was given for: {fields}. "
        "Remedy: {call}",
        "{lesson} 的论断 {id} 要显示实测值，但没有给出：{fields}。解决办法：{call}",
    ),
    "ask_check": ("Check", "检查"),
    "ask_add": ("add", "加入"),
    "ask_remove": ("take back", "取回"),
    "ask_lines": ("Lines to choose from", "可选的代码行"),
    "ask_yours": ("Your order", "你的顺序"),
    "ask_right": ("Right.", "正确。"),
    "ask_wrong": ("Not quite.", "不对。"),
    "ask_one_order": ("Show one right order", "显示一种正确的顺序"),
    "ask_no_option": (
        "{answer} is not one of the options {letters}.",
        "{answer} 不在选项 {letters} 之中。",
    ),
    "ask_no_order": (
        "{answer} is not an order. Give a list of line numbers from 1 to {last}.",
        "{answer} 不是一个顺序。请给出由 1 到 {last} 的行号组成的列表。",
    ),
    "ask_order_twice": ("Line {number} occurs twice.", "第 {number} 行出现了两次。"),
    "ask_order_distractor": ("Line {number} does not belong here.", "第 {number} 行不属于这里。"),
    "ask_order_before": (
        "Line {number} uses what line {needed} makes, so line {needed} comes first.",
        "第 {number} 行要用第 {needed} 行的结果，所以第 {needed} 行在前。",
    ),
    "ask_order_missing": ("Line {number} is still missing.", "还缺第 {number} 行。"),
    "ask_order_right": (
        "Every line comes after the lines that it needs.",
        "每一行都排在它所需要的行之后。",
    ),
    # tables and sweeps of the lessons
    "table_width": (
        "table {id}: row {number} has {given} cells, the table has {wanted} columns to fill.",
        "表格 {id}：第 {number} 行有 {given} 个单元格，而表格有 {wanted} 列要填。",
    ),
    "table_height": (
        "table {id} names {wanted} rows, {given} were given.",
        "表格 {id} 有 {wanted} 个行名，却给了 {given} 行。",
    ),
    "side_by_side": ("{count:drawing} side by side", "{count} 幅图并排"),
    "side_by_side_takes": (
        "viz.side_by_side takes graphs, diagrams, charts, images and boards, not {value}",
        "viz.side_by_side 接受图、图示、图表、图像和面板，不接受 {value}",
    ),
    "sweep_cell": ("{head} {value}", "{head} {value}"),
    "sweep_step": ("{head} = {value}: {cells}", "{head} = {value}：{cells}"),
    "sweep_named": ("{value}: {cells}", "{value}：{cells}"),
    "sweep_values": (
        "viz.sweep: there is no value to try for {id}. Give a list of one or more.",
        "viz.sweep：{id} 没有可以尝试的值。请给出至少含一个值的列表。",
    ),
    # topological orders
    "orders_graph": (
        "viz.topological_orders takes a graph from mg.build_graph, not {value}.",
        "viz.topological_orders 接受 mg.build_graph 得到的图，不接受 {value}。",
    ),
    "orders_order": ("order {number} of {count}", "顺序 {number}（共 {count} 种）"),
    "orders_begin": (
        "{order}: nothing has run yet. Ready: {nodes}",
        "{order}：还没有运行任何节点。就绪：{nodes}",
    ),
    "orders_step": (
        "{order}, step {step}: {node} = {value}. {ready}",
        "{order}，第 {step} 步：{node} = {value}。{ready}",
    ),
    "orders_ready": ("Ready next: {nodes}", "接下来就绪：{nodes}"),
    "orders_done": ("All nodes are computed", "所有节点都已算完"),
    "orders_panel": ("the graph", "计算图"),
    "orders_number": ("order", "顺序"),
    "orders_sequence": ("nodes, from first to last", "节点，从先到后"),
    "orders_result": ("result", "结果"),
    "orders_slider": ("order and step", "顺序与步骤"),
    "orders_equal": (
        "checked: the same result in all {count} orders, bit for bit",
        "已检验：{count} 种顺序的结果逐位相同",
    ),
    "orders_one": (
        "this graph has one order only: each node waits for the one before it",
        "这张图只有一种顺序：每个节点都要等前一个",
    ),
    "orders_unequal": ("the results differ between the orders", "不同顺序的结果不一样"),
    "orders_more": (
        "{verdict}; there are more, and the first {most} are shown",
        "{verdict}；顺序不止这些，这里只展示前 {most} 种",
    ),
    "check_passed": ("passed: {text}", "通过：{text}"),
    "check_failed": ("not yet: {text}", "还没有通过：{text}"),
    "check_gap": (
        "Nothing filled in yet: replace every `...` above and run the cell again.",
        "还没有填写：把上面的每个 `...` 换成答案，再运行一次这个单元格。",
    ),
    "check_expected": ("expected: {value}", "期望：{value}"),
    "check_got": ("got: {value}", "得到：{value}"),
    "check_raised": ("got an error, {kind}: {message}", "得到错误 {kind}：{message}"),
    "check_hint": ("reread: {hint}", "请重读：{hint}"),
    "claim_line": ("{title}: {text}", "{title}：{text}"),
    "claim_claim": ("claim", "论断"),
    "claim_claimed": ("claimed", "来源的说法"),
    "claim_measured": ("measured here", "本课实测"),
    "claim_holds": ("holds when", "成立条件"),
}
