// Package orgmove reads and stores the rows of organizations that move between installations. The
// archive and its checks are in core/orgmove.
//
// What moves is derived from three lists that tests compare with the schema: the tables of an
// organization (storage/closing), the columns of each table (core/privacy) and the columns that the
// master key seals (storage/sealed). A new table moves unless it is added to [Stays].
package orgmove
