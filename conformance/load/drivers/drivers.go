package main

// driver is a driver of SQLite, with one of its interfaces.
type driver struct {
	name string
	open func(path string) (connection, error)
}

// drivers are those that are compared. The first is Mailhelm's. zombiezen has no interface for database/sql.
var drivers = []driver{
	{"modernc", func(path string) (connection, error) { return openSQL("sqlite", path) }},
	{"ncruces", func(path string) (connection, error) { return openSQL("sqlite3", path) }},
	{"ncruces, own interface", openNcruces},
	{"zombiezen, own interface", openZombiezen},
}
