"""What nbgrader is to know of this course; it reads this in the folder from which it starts."""

import re

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor

WIDGET = "application/vnd.jupyter.widget-view+json"
HIDDEN = re.compile(r"(?ms)^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS\n?")


class Readable(NbGraderPreprocessor):
    """Feedback as a page: what stands for a widget, in one language, and no hidden test."""

    def preprocess_cell(self, cell, resources, index):
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
        if cell.cell_type == "code":
            cell.source = HIDDEN.sub("", cell.source)
        return cell, resources


c = get_config()  # noqa: F821 - nbgrader gives it

c.CourseDirectory.course_id = "minigrad"
# What stands in the place of our answer. A learner's own stands in the cell above it.
c.ClearSolutions.code_stub = {
    "python": (
        "# Your answer goes into the cell above. Leave this one as it is.\n"
        "# 答案写在上面的单元格里，这个单元格不用改。"
    )
}
c.Execute.timeout = 300  # seconds for one cell; an answer that never ends is stopped after 30
c.OverwriteCells.add_missing_cells = True  # tests that somebody deleted count nevertheless
c.GenerateFeedback.preprocessors = [GetGrades, Readable, CSSHTMLHeaderPreprocessor]
