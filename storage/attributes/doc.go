// Package attributes stores the registry of attributes and makes stored contacts follow its
// changes.
//
// A change of the registry excludes writes to contacts while it is made; see package slots,
// which reads the registry for writes. A pass brings the contacts that were stored before to
// the new names, types and slots, some in each transaction.
package attributes
