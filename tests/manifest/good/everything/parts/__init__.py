"""A package inside the plugin's package."""
