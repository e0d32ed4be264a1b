// Package storagetest opens databases for tests. SQLite is a file in the test's own
// folder. PostgreSQL is a separate database in a server that all test processes of the
// machine share.
//
// MAILHELM_TEST_POSTGRES_URL names that server. Without it, a cluster is started from
// installed server binaries in a temporary folder. The cluster listens only on a socket
// file. It is stopped and removed some seconds after the last test process has ended, for
// whatever reason.
//
// The package is only for tests and contains no conformance test; those are in
// conformance/storage.
package storagetest
