"""Chats on disk."""

from desktop.store.records import Chat, Message, NewChat
from desktop.store.schema import StoreError
from desktop.store.search import Hit
from desktop.store.store import Store

__all__ = ["Chat", "Hit", "Message", "NewChat", "Store", "StoreError"]
