"""The contribution points of this host: one module each, listed here and nowhere else."""

from types import MappingProxyType

from talekeeper.manifest.points import commands, data, importers, jobs, prompt, providers, settings, tools
from talekeeper.manifest.points.point import Point, Rule, Scene, kept_in

POINTS = MappingProxyType(
    {it.POINT.name: it.POINT for it in (data, tools, prompt, jobs, settings, commands, importers, providers)}
)

__all__ = ["POINTS", "Point", "Rule", "Scene", "kept_in"]
