"""The commands as containers start them: `python -m marsdask.deploy.kubernetes.worker`."""
