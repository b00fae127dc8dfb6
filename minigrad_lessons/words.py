"""Every sentence that is said on the terminal: its key, English, Chinese."""

SENTENCES = {
    # ---- tasks.py ------------------------------------------------------------------------------
    "help": (
        """\
python tasks.py COMMAND

  lab [WHICH]   open your copies of the lessons in JupyterLab, made in notebooks/yours;
                WHICH is part of a name: tour, 03, L03; or a folder
  student OUT   write all notebooks into OUT, without solutions, hidden tests and outputs
  handouts OUT [--language en|zh]
                write sheets to print into OUT, as PDF: one for each lesson, and the glossary
  pages OUT     write all notebooks into OUT as pages to read, in each language; they play offline
  kit OUT [--language en|zh]
                write all that a class gets into OUT/class, what you need for it into OUT/teacher
  site OUT [OPTIONS]
                write the course into OUT as files for any web server: it runs in the browser,
                with nothing installed; --help after OUT tells the options
  test [ARGS]   tests, notebooks, examples in docstrings and README; ARGS go to pytest;
                --quick takes a minute: no browser, no notebook, few cases of each test;
                --all takes every case; --oracles installs PyTorch, JAX, TensorFlow and the
                extras as well, and compares
  check         format, lint, types, then test: what a change must pass
  docs          write the reference of all public names, from their docstrings, to build/api
  bench [ARGS]  measure; ARGS go to tests/bench/run.py
  format        let ruff format the code and fix what it can
  help          this text

The first command makes .venv and installs what it needs; to start afresh, delete .venv.
MINIGRAD_LANGUAGE=zh in the environment lets it speak Chinese, en English.""",
        """\
python tasks.py 命令

  lab [哪一课]  在 JupyterLab 里打开课程；打开的是你自己的副本，放在 notebooks/yours；
                写名字的一部分就行：tour、03、L03；也可以写一个文件夹
  student 目录  把全部 notebook 写进该目录，不含答案、隐藏测试和输出
  handouts 目录 [--language en|zh]
                把可以打印的讲义写进该目录，PDF 格式：每课一份，外加术语表
  pages 目录    把全部 notebook 写成可以阅读的网页，放进该目录，两种语言各一份；不联网也能播放
  kit 目录 [--language en|zh]
                把发给学生的一切写进 目录/class，把教师需要的写进 目录/teacher
  site 目录 [选项]
                把整套课程写成网站文件，放到任何网页服务器上都行：课程在浏览器里运行，
                什么都不用安装；在目录后面加 --help 可以看到各个选项
  test [参数]   运行测试、notebook，以及文档字符串和 README 里的例子；参数交给 pytest；
                --quick 只要一分钟：不开浏览器，不跑 notebook，每项测试只取几个情形；
                --all 运行全部情形；--oracles 还会安装 PyTorch、JAX、TensorFlow 和各种附加依赖，
                与它们对照
  check         检查格式、代码规范和类型，再运行测试：改动必须通过这一关
  docs          根据文档字符串，把全部公开名字的参考文档写到 build/api
  bench [参数]  测速；参数交给 tests/bench/run.py
  format        用 ruff 整理代码格式，并修正它能修正的问题
  help          显示这段文字

第一次运行会建立 .venv 并安装所需的一切；想从头再来，删掉 .venv 即可。
环境变量 MINIGRAD_LANGUAGE 设为 zh 就说中文，设为 en 就说英文。""",
    ),
    "no_command": ("There is no command {name!r}.\n\n{help}", "没有 {name!r} 这个命令。\n\n{help}"),
    "stopped": (
        "Stopped. To go on, run the same command again: {command}",
        "已停止。想继续，再运行一次同样的命令：{command}",
    ),
    "not_yours": (
        "{error}. Check that this folder is yours and that the disk has room.",
        "{error}。请检查这个文件夹是不是你的、磁盘是否还有空间。",
    ),
    "old_python": (
        "This is Python {this}, but the project needs Python {oldest} or newer. Install one from"
        " python.org, your system's packages or conda, and start this file with it, for example:"
        " python3.12 tasks.py lab",
        "这是 Python {this}，而本项目需要 Python {oldest} 或更新的版本。请从 python.org、系统的"
        "软件包或 conda 安装一个，再用它来运行这个文件，例如：python3.12 tasks.py lab",
    ),
    "no_venv": (
        "This Python cannot make a virtual environment: its module {modules} is missing. On Debian"
        " and Ubuntu run: sudo apt install python3-venv. Elsewhere, install a complete Python from"
        " python.org, or uv. Then run the same command again.",
        "这个 Python 无法建立虚拟环境：缺少模块 {modules}。在 Debian 和 Ubuntu 上请运行："
        "sudo apt install python3-venv。在其他系统上，请从 python.org 安装完整的 Python，或者安装"
        " uv。然后再运行一次同样的命令。",
    ),
    "and": (" and ", " 和 "),
    "venv_anew": ("Making .venv again: {why}", "重新建立 .venv：{why}"),
    "venv_incomplete": (
        "it is incomplete, or its Python is gone.",
        "它不完整，或者它的 Python 已经不在了。",
    ),
    "venv_of_another": (
        "it belongs to Python {made}, this is Python {this}.",
        "它属于 Python {made}，而现在运行的是 Python {this}。",
    ),
    "venv_dead": ("its Python does not start.", "它的 Python 无法启动。"),
    "venv_failed": (
        "The virtual environment could not be made:\n{log}",
        "虚拟环境没有建成：\n{log}",
    ),
    "venv_stays": (
        "The old .venv could not be removed ({error}). Close JupyterLab and every program that uses"
        " it, or delete the folder by hand, and run the same command again.",
        "旧的 .venv 无法删除（{error}）。请关闭 JupyterLab 和所有正在使用它的程序，或者手动删除这个"
        "文件夹，然后再运行一次同样的命令。",
    ),
    "setting_up_first": (
        "Setting up (the first time takes about 20 to 60 seconds): ",
        "正在准备（第一次大约需要 20 到 60 秒）：",
    ),
    "setting_up_changed": ("Setting up (something changed): ", "正在准备（有了变化）："),
    "seconds": ("{count:.0f} s", "{count:.0f} 秒"),
    "not_installed": (
        "{reason}. Then run the same command again. The whole log is {path}; it says:\n{log}",
        "{reason}。然后再运行一次同样的命令。完整的日志在 {path}，其中写道：\n{log}",
    ),
    "install_failed": (
        "The packages could not be installed; below is why",
        "软件包没有装成，原因见下面的日志",
    ),
    "disk_full": (
        "The disk is full: the project needs about 800 MB. Free some space",
        "磁盘已满：本项目大约需要 800 MB。请腾出一些空间",
    ),
    "no_certificate": (
        "The secure connection to the package index was refused. A company proxy often causes"
        " this: point SSL_CERT_FILE and PIP_CERT at the proxy's certificate, and check the clock",
        "与软件包索引的安全连接被拒绝，常见的原因是公司的代理。请让 SSL_CERT_FILE 和 PIP_CERT 指向"
        "代理的证书，并检查系统时钟",
    ),
    "no_network": (
        "The package index could not be reached. Check the network; behind a proxy, set"
        " HTTPS_PROXY. Set-up needs the network once, later starts do not",
        "连不上软件包索引。请检查网络；如果使用代理，请设置 HTTPS_PROXY。只有第一次准备需要网络，"
        "以后启动都不需要",
    ),
    "not_written": (
        "A file in .venv could not be written. Close JupyterLab and every program that uses this"
        " folder, and check that the folder is yours",
        ".venv 里有文件无法写入。请关闭 JupyterLab 和所有正在使用这个文件夹的程序，并检查文件夹"
        "是不是你的",
    ),
    "no_fit": (
        "A package does not fit this Python or system, or could not be built. Python {oldest} to"
        " {newest} on Linux, macOS and Windows are tested. Take one of these",
        "有软件包不适合这个 Python 或系统，或者无法构建。测试过的是 Linux、macOS 和 Windows 上的"
        " Python {oldest} 至 {newest}，请换用其中之一",
    ),
    "no_drawings": (
        "Everything is installed, but without drawings. {why}",
        "全部装好了，但是画不了图。{why}",
    ),
    "tests_took": (
        "The tests took {minutes} min {seconds} s; the goal is 8 min on two cores.",
        "测试用时 {minutes} 分 {seconds} 秒；目标是在双核机器上不超过 8 分钟。",
    ),
    "quick_took": (
        "The quick tests took {minutes} min {seconds} s; the goal is 60 s on two cores.",
        "快速测试用时 {minutes} 分 {seconds} 秒；目标是在双核机器上不超过 60 秒。",
    ),
    "plain_tests": (
        "Dynamic mode once more, without its fast paths (MINIGRAD_PLAIN=1):",
        "再测一遍动态图，这次不走快速通道（MINIGRAD_PLAIN=1）：",
    ),
    "student_usage": (
        "Name one folder to write into, for example: python tasks.py student OUT",
        "请写明要写进哪个文件夹，只写一个，例如：python tasks.py student OUT",
    ),
    "handouts_usage": (
        "Name one folder: python tasks.py handouts OUT [--language en|zh]",
        "请写明一个文件夹：python tasks.py handouts OUT [--language en|zh]",
    ),
    "pages_usage": (
        "Name one folder to write into, for example: python tasks.py pages OUT",
        "请写明要写进哪个文件夹，只写一个，例如：python tasks.py pages OUT",
    ),
    "kit_usage": (
        "Name one folder: python tasks.py kit OUT [--language en|zh]",
        "请写明一个文件夹：python tasks.py kit OUT [--language en|zh]",
    ),
    "not_empty": (
        "{folder} is there already, and not empty. Name another folder.",
        "{folder} 已经存在，而且不是空的。请换一个文件夹。",
    ),
    "site_usage": (
        "Name one folder: python tasks.py site OUT [OPTIONS]",
        "请写明一个文件夹：python tasks.py site OUT [选项]",
    ),
    "the_lessons": (
        "The lessons themselves are in {folder}. Name another folder.",
        "课程本身就在 {folder} 里。请换一个文件夹。",
    ),
    "no_folder": ("{folder} is not a folder. Name another one.", "{folder} 不是文件夹。请换一个。"),
    "taken": (
        "These files hold someone's work, or did not come from this command. Nothing was written."
        " Name another folder, or move them away:\n{files}",
        "这些文件里有人作答过，或者不是由这个命令写出的。什么也没有写入。请换一个文件夹，或者先把它们"
        "移走：\n{files}",
    ),
    "written": ("Written to {folder}", "已写入 {folder}"),
    "to_open": ("To open them: python tasks.py lab {folder}", "打开：python tasks.py lab {folder}"),
    # ---- The lessons ---------------------------------------------------------------------------
    "lessons_help": (
        """\
minigrad-lessons [WHICH] [ARGS]

Opens your copies of the lessons in JupyterLab; they are in {folder}.
WHICH is part of a name: tour, 03, L03; or a folder. ARGS, from the first dash on, go to JupyterLab.
MINIGRAD_LANGUAGE=zh in the environment lets it speak Chinese, en English.""",
        """\
minigrad-lessons [哪一课] [参数]

在 JupyterLab 里打开课程；打开的是你自己的副本，放在 {folder}。
哪一课：写名字的一部分就行，如 tour、03、L03；也可以写一个文件夹。
从第一个横线开头的参数起，都交给 JupyterLab。
环境变量 MINIGRAD_LANGUAGE 设为 zh 就说中文，设为 en 就说英文。""",
    ),
    "your_copies": ("Your copies of the lessons: {folder}", "你的课程副本：{folder}"),
    "no_copies": (
        "Your copies of the lessons cannot be written to {folder}: {why}. If a file of that name is"
        " in the way, move it. Otherwise check that you may write to this folder and that the disk"
        " has room.",
        "无法把你的课程副本写入 {folder}：{why}。如果那里有一个同名的文件，请把它移走；否则请检查你"
        "能否写入这个文件夹、磁盘是否还有空间。",
    ),
    "no_jupyterlab": (
        'The lessons open in JupyterLab, which is not installed. Type: "{python}" -m pip install'
        " jupyterlab",
        '课程要用 JupyterLab 打开，而这里没有安装。请输入："{python}" -m pip install jupyterlab',
    ),
    "clash": (
        "Another project's `{name}` is installed where that of the lessons should be ({place})."
        " Type: pip uninstall {name}, then: pip install --force-reinstall --no-deps"
        " minigrad-lessons; or give the lessons an environment of their own.",
        "这里装着另一个也叫 `{name}` 的项目，占了课程的位置（{place}）。请输入："
        "pip uninstall {name}，再输入：pip install --force-reinstall --no-deps minigrad-lessons；"
        "或者给课程单独建一个环境。",
    ),
    "hidden": (
        "{place} has the name of a part of the lessons, so `import {name}` finds that file and not"
        " ours. Rename it, then restart the kernel.",
        "{place} 与课程的一个组成部分同名，所以 `import {name}` 找到的是它，而不是我们的。"
        "请给它改名，然后重启内核。",
    ),
    "one_notebook": (
        "Name one notebook, not {count}: {names}",
        "请只写一个 notebook，这里有 {count} 个：{names}",
    ),
    "no_notebooks": ("There is no notebook in {folder}", "{folder} 里没有 notebook"),
    "several_fit": (
        "{which!r} fits more than one notebook:\n{names}",
        "{which!r} 对应不止一个 notebook：\n{names}",
    ),
    "none_fits": (
        "No notebook fits {which!r}. There are:\n{names}",
        "没有 notebook 对应 {which!r}。现有：\n{names}",
    ),
    "newer": (
        "There is a newer version of these; yours are kept. Rename one to get the new one:"
        "\n{names}",
        "下面这些有了新版本；你的没有动。想要新的，把旧的改名即可：\n{names}",
    ),
    "no_end": (
        "A solution or hidden test has no begin or end at the left margin:\n{source}",
        "有一处答案或隐藏测试，开头或结尾没有顶格写：\n{source}",
    ),
}
