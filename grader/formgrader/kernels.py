"""Start an instructor's kernels outside the folders that students filled."""

from pathlib import Path
from typing import Any, Final

from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

OWN: Final = ("learn", "notebooks", "solutions")  # the course's folders that take no hand-ins


class Kernels(AsyncMappingKernelManager):
    """JupyterLab's kernels; that of a hand-in, wherever it lies, starts in the course's folder."""

    def cwd_for_path(self, path: str, **options: Any) -> str:
        """Return the folder in which a notebook's kernel starts."""
        root = Path(self.root_dir).resolve()
        folder = Path(super().cwd_for_path(path, **options)).resolve()
        is_own = any(folder.is_relative_to(root / name) for name in OWN)
        return str(folder if is_own else root)
