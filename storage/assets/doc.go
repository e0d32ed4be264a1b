// Package assets stores the records of images that mail shows. Their contents are in the object store
// of each organization.
package assets
