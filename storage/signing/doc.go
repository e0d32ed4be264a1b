// Package signing stores the keys that sign access tokens. They reach it sealed.
package signing
