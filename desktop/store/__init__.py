"""Chats on disk."""

from desktop.store.records import Chat, Message, NewChat
from desktop.store.schema import StoreError
from desktop.store.store import Store

__all__ = ["Chat", "Message", "NewChat", "Store", "StoreError"]
