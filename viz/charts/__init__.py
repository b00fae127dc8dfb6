"""Charts: curves, schedules, memory and ratios, each in both languages, with a table."""

from viz.charts.chart import Chart, chart_style
from viz.charts.curves import curves

__all__ = ["Chart", "chart_style", "curves"]
