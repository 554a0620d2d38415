"""The documentation site: `make site` collects the pages, runs the gallery and builds build/site/html with Sphinx.

pages       copies docs/*.md, the tables of benchmarks/results and the changelog to one folder, with their links
reference   writes the pages of the API reference: which names there are, and in which group
cells       runs the examples of docs/gallery and docs/notebooks, and writes pages with what they print and draw
conf        the settings of Sphinx
"""
