// Package archive reads and writes the two forms of a bundle: a zip archive, and a JSON document with
// the members manifest, files and images. Both become a [Tree], which a folder and a Git repository
// can be too.
//
// A bundle comes from outside. What could harm a reader is refused with the name of the file: paths
// that leave the bundle, names that differ in case only or are there twice, links and other files
// that have no content, encrypted files, files that are larger than they say, and more than the
// limits allow. Nothing is written to a disk.
//
// The package does not know what the files mean; see package manifest.
package archive
