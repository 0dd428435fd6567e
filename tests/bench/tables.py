"""Tables as bench/ writes them."""


def rows_of(table):
    """The cells of each row of a Markdown table, by its first."""
    lines = (line.strip("|").split("|") for line in table.splitlines() if line.startswith("|"))
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}
