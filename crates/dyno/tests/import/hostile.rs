//! Values that mean something else to COPY and to LOAD DATA come to the server as they are.

use super::servers::{Server, printed, program};
use crate::common::{Place, Result};

const ENGINES: [&str; 2] = ["postgres", "mariadb"];

#[test]
fn rows_of_one_column_come_to_the_server() {
    for engine in ENGINES {
        let Some(server) = Server::start(engine) else { continue };
        let place = Place::new();
        // Alone in its line, this ended the rows of a COPY once.
        place.write("one.csv", "v\n\\.\n\\N\na\n\"\"\n\\\\.\n");
        let arguments = ["import", "one.csv", "--header", "--types", "TEXT", "--into", &server.url];
        Result::from(place.command().args(arguments).output().unwrap()).without_panic().exits(0);
        let found = printed(&mut program(&server.url), "SELECT count(*), sum(length(v)) FROM one");
        assert_eq!(found, "5|8", "{engine}");
        let same =
            "SELECT count(*) FROM one WHERE v IN (concat(chr(92), '.'), concat(chr(92), 'N'), 'a', '')";
        let same = if engine == "postgres" { same.to_owned() } else { same.replace("chr(", "char(") };
        assert_eq!(printed(&mut program(&server.url), &same), "4", "{engine}");
    }
}
