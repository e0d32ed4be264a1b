// Package site tests website identity against the whole product: what POST /s/visit answers,
// which beacons become activities, and what segments, rotations and a clean stop do.
package site
