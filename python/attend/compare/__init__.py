"""attend.compare: runs of `attend train` side by side, as `attend compare` shows them.

    from attend.compare import compare

    print(compare(["small", "large"]).plain())
"""

from attend._report import Report
from attend.compare._comparison import compare

__all__ = ["Report", "compare"]
