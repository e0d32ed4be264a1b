// Package product starts a complete Mailhelm server inside a test. The server listens on
// free ports of the loopback interface. It has the demo data and a second organization, for
// tests that organizations do not see each other's data. A test can make the sending
// account fail and move the clock. [Start] starts one server; [Each] runs a test on SQLite
// and on PostgreSQL.
//
// The package has no tests; conformance/server/product_test.go tests it. It starts the
// server by the package serve, as `mailhelm serve` does.
package product
