# Copyright of iophase: see LICENSE-MIT and LICENSE-APACHE
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)
#
# In a checkout: spack repo create my-repo; copy this file to my-repo/packages/iophase/; spack dev-build iophase@0.1.0

from spack.package import *


class Iophase(Package):
    """Detects periodic I/O in traces of parallel jobs, predicts the next burst, and finds what slows the I/O down."""

    license("MIT OR Apache-2.0")

    version("0.1.0")

    depends_on("rust@1.88:", type="build")

    def install(self, spec, prefix):
        cargo = which("cargo")
        cargo("install", "--locked", "--no-track", "--path", ".", "--features", "tui,serve", "--root", prefix)
