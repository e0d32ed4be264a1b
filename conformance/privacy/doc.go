// Package privacy tests that the register of core/privacy covers the whole schema, and that a
// person's data is exported and erased from every place in which Mailhelm stores data: the
// database, the sending account, the object store, the data folder and the log.
package privacy
