"""Cells of mqadmin's output show a difference exactly if there is one."""

from __future__ import annotations

from conformance.interop.mqadmin.columns import anonymous, cells_of

HEADING = "#Cluster Name     #Broker Name  #InTPS(LOAD) #PCWait(ms) #SPACE"


def cluster_list(load: str, space: str = "0.0712") -> dict[str, str]:
    """Return the cells of a clusterList of one broker."""
    row = f"DefaultCluster    broker-a          {load}          0 {space}"
    return cells_of("clusterList", [HEADING, row])


def test_a_tables_cells_are_named_by_row_and_heading() -> None:
    cells = cluster_list("0.00(0,0ms)")
    assert cells["row 0/Broker Name"] == "broker-a"
    assert cells["row 0/PCWait(ms)"] == "0"


def test_of_an_undetermined_cell_the_form_is_compared() -> None:
    assert cluster_list("0.10(0,0ms)") == cluster_list("0.00(0,1ms)", "0.0999")
    assert cluster_list("0.00(null,0ms)") != cluster_list("0.00(0,0ms)")


def test_a_line_of_the_status_is_a_cell() -> None:
    lines = ["BROKER    putTps        : 0.1 0.0 ", "BROKER    commitLogMaxOffset: 7"]
    cells = cells_of("brokerStatus", lines)
    assert cells == {"BROKER/putTps": "", "BROKER/commitLogMaxOffset": "7"}


def test_settings_keep_their_values_but_for_the_places_of_files() -> None:
    lines = ["====A====", "listenPort  =  PORT", "kvConfigPath =  /home/x/kv.json"]
    cells = cells_of("getNamesrvConfig", lines)
    assert cells == {"title 0": "====A====", "listenPort": "PORT", "kvConfigPath": "/"}


def test_json_is_cut_down_to_its_values_and_the_empty_ones() -> None:
    lines = ['{"queueDatas":[{"perm":6}],', '"filterServerTable":{}}']
    cells = cells_of("topicRoute", lines)
    assert cells == {"/queueDatas/0/perm": "6", "/filterServerTable": "{}"}


def test_the_order_of_a_java_hash_table_does_not_matter() -> None:
    assert cells_of("topicList", ["B", "A"]) == cells_of("topicList", ["A", "B"])
    assert cells_of("deleteTopic", ["B", "A"]) != cells_of("deleteTopic", ["A", "B"])


def test_addresses_become_words() -> None:
    lines = anonymous(["create topic to 127.0.0.1:1 success."], {"127.0.0.1:1": "IT"})
    assert lines == ["create topic to IT success."]


def test_a_port_inside_another_number_stays() -> None:
    lines = anonymous(["listenPort = 17952", "boot : 1795280274188"], {"17952": "PORT"})
    assert lines == ["listenPort = PORT", "boot : 1795280274188"]
