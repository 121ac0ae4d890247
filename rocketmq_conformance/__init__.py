"""
The one name that the distribution adds to an environment.

An installation has all packages of the project in the folder ``packages`` beside this
file. They are importable in processes of the project only, under their own names:
``paths.py`` puts the folder first on the path of such a process. A user's own ``cli``
or ``conformance`` therefore never meets ours.
"""
