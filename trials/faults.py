"""How trials tell the faults that they found."""

from collections.abc import Sequence

__all__ = ["tell"]

SHOWN = 20


def tell(faults: Sequence[str]) -> None:
    """Prints the first of them and how many there are."""
    for fault in faults[:SHOWN]:
        print(f"  FAULT {fault}")
    print(f"  {len(faults)} faults", flush=True)
