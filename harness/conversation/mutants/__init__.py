"""Miniatures: the plain loop or the gateway with one step done wrong, as clients really did it.

Each declares the rules that must catch it: those, and no other. Ancestors are among them, the
ways in which the seed systems were broken before they were mended.
"""

from harness.conversation.agent import Agent
from harness.conversation.mutants import endings, execution, identity, repeating, storing, telling

MUTANTS: dict[str, Agent] = {
    miniature.name: miniature
    for room in (endings, execution, storing, identity, telling, repeating)
    for miniature in room.MINIATURES
}
