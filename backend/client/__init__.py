"""How front ends talk to an engine: one interface, whether it is our own worker or a server elsewhere.

:class:`RemoteEngine` speaks HTTP to any OpenAI-compatible server and uses the ``/x/`` routes where they exist;
:class:`ManagedEngine` is the same over a worker that it starts itself, and knows why that worker died.
"""

from backend.client.interface import EngineClient, News
from backend.client.managed import ManagedEngine, own_engine
from backend.client.remote import RemoteEngine

__all__ = ["EngineClient", "ManagedEngine", "News", "RemoteEngine", "own_engine"]
