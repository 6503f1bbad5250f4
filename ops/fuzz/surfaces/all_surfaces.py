"""All surfaces by their names, in the order in which they start: those that take longest come first."""

from .answers import Collector, ProviderAnswers, Tokens
from .commands import CommandLines, Environment, SettingsFiles, StartSurface
from .http_requests import AdminHTTP, ConsoleHTTP
from .kafka import Fleet, Outcomes, Requests
from .offsets import Offsets

SURFACES = {
    surface.name: surface
    for surface in (
        Outcomes,
        Collector,
        ProviderAnswers,
        Tokens,
        Requests,
        Offsets,
        Fleet,
        ConsoleHTTP,
        AdminHTTP,
        SettingsFiles,
        Environment,
        CommandLines,
    )
}

__all__ = ["SURFACES", "StartSurface"]
