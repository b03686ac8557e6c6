"""Chats on disk."""

from desktop.store.records import Chat, Draft, Message, NewChat
from desktop.store.schema import StoreError
from desktop.store.search import Hit
from desktop.store.store import Store

__all__ = ["Chat", "Draft", "Hit", "Message", "NewChat", "Store", "StoreError"]
