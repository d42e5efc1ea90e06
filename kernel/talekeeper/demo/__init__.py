"""The bundled stories, told into a fresh home and asked questions, so that a newcomer sees what this is for."""
