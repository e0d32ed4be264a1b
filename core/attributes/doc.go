// Package attributes owns the registry of contact attributes: which names an
// organization's contacts may have values under, their types, and what a change of a
// definition does to stored values and to segments.
//
// Attribute is an entry. Registry checks values that callers send and converts them to
// the registered types (Coerce). Show and Settle bring stored values to the present
// registry: Show for reads, Settle for the pass over contacts that a change starts.
//
// The package does not store values: they are part of the contact. Rooms that write
// contacts read the entries through an interface of their own and use the pure functions
// here. It knows neither contacts nor segments; Config asks for what a change affects.
package attributes
