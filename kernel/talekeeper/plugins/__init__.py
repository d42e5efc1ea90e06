"""Plugins: discovery, states, loading, guard, enablement, settings, seeds."""
