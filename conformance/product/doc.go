// Package product starts a complete Mailhelm inside a test. It listens on free ports of the
// loopback, and has the demo data and a second organization, whose data the demo
// organization must not reach. A test can make its sending account fail and move its clock.
// [Start] starts one product; [Each] runs a test on SQLite and on PostgreSQL.
//
// The package has no tests of Mailhelm's behaviour. It starts the product through package
// serve, as `mailhelm serve` does, so that tests run the real wiring.
package product
