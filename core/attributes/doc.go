// Package attributes owns the registry of contact attributes. The registry defines the
// names under which an organization's contacts may have values, and the types of these
// values. The package also determines what a change of a definition does to stored values
// and to segments.
//
// Attribute is an entry of the registry. Registry checks values that callers send and
// converts them to the registered types (Coerce). After a change of the registry, Show
// converts stored values for reads. Settle converts them for the pass, a job that rewrites
// the stored contacts.
//
// The package does not store values: they are part of the contact. Packages that write
// contacts read the attributes through an interface of their own and call the pure
// functions of this package. This package imports neither contacts nor segments; functions
// in Config return what a change affects.
package attributes
