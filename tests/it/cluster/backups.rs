//! A backup with the tools of PostgreSQL, and nodes that go on from it.

use serde_json::json;

use super::node::{AUTO, Library, SECRET, returns};

#[test]
fn nodes_go_on_from_a_dump_of_the_database() {
    let Some(library) = Library::start(AUTO) else { return };
    let clients = library.clients("alice");
    assert_eq!((clients[0].create("one", &returns(1)), clients[1].create_counter()), (Ok(1), Ok(1)));
    assert_eq!(clients[2].run("count", &json!({})), Ok(1.into()));
    // The nodes go on meanwhile.
    let dump = library.postgres.dump();
    assert!(!dump.contains(SECRET));
    assert_eq!(clients[1].create("later", &returns(2)), Ok(1));
    for node in &library.nodes {
        node.kill();
        std::fs::remove_dir_all(node.folder.join("store")).unwrap();
    }
    library.postgres.query("DROP SCHEMA toolcell CASCADE");
    library.postgres.restore(&dump);
    for (node, count) in library.nodes.iter().zip(2..) {
        node.start();
        let client = node.client("alice");
        assert_eq!(client.names().unwrap(), ["count", "one"]);
        assert_eq!(client.run("one", &json!({})), Ok(1.into()));
        assert_eq!(client.run("count", &json!({})), Ok(count.into()));
    }
    assert_eq!(clients[2].create("later", &returns(3)), Ok(1));
    assert_eq!(clients[0].run("later", &json!({})), Ok(3.into()));
}
