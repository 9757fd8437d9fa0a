from __future__ import annotations

from vault_memex.store.ephemeral import EphemeralTables
from vault_memex.store.vectors import SharedTables, TableInfo, VectorTables, choose_active

OLD = TableInfo("old", "model old", 8, 100)
OLDER = TableInfo("older", "model older", 8, 40)
NEW = TableInfo("new", "model new", 8, 50)


def test_the_old_table_is_searched_until_the_new_one_is_complete() -> None:
    assert OLD == choose_active([NEW, OLD, OLDER], "new", complete=False)
    assert NEW == choose_active([NEW, OLD, OLDER], "new", complete=True)


def test_a_filling_table_is_searched_when_there_is_no_other() -> None:
    assert NEW == choose_active([NEW], "new", complete=False)
    assert NEW == choose_active([NEW, TableInfo("empty", "m", 8, 0)], "new", complete=False)


def test_nothing_is_searched_when_there_are_no_rows() -> None:
    assert choose_active([], "new", complete=True) is None
    assert choose_active([TableInfo("new", "m", 8, 0)], "new", complete=False) is None


def test_shared_tables_open_once_and_again_after_a_reset() -> None:
    calls: list[bool] = []

    def open_tables(broken: bool) -> VectorTables:
        calls.append(broken)
        return EphemeralTables()

    shared = SharedTables(open_tables)
    assert [] == calls
    first = shared.get()
    assert first is shared.get()
    shared.reset(broken=True)
    assert first is not shared.get()
    shared.reset(broken=False)
    shared.get()
    assert [False, True, False] == calls
