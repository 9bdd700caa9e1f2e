"""Mars's commands under the module names that its documents, charts and operators start."""
