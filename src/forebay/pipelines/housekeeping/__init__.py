"""Housekeeping: periodic chores as jobs."""

from forebay.packages import PipelinePackage

package = PipelinePackage("housekeeping", __name__, pipelines=("steps",))
