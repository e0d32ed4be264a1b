// Package contactimport stores uploaded contact files, the state of their imports and the
// rejected rows.
//
// A file is divided into chunks, so that no statement and no process holds a whole file.
package contactimport
