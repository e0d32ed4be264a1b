// Package bundles reads the definitions of an organization for bundles, from the tables of their
// subjects. It writes nothing: definitions are saved by the packages of their subjects.
package bundles
