//go:build unix

// Command bench times one documented update (96 wide, 192 episodes, 6 tokens;
// sampling, rewards, backward and Adam included) beside the same update in
// PyTorch, on one core and in one run:
//
//	go run ./policy/bench [-python /usr/bin/python3] [-rounds 15] [-updates 20]
//
// The peers are in peers.py: a lean one and one in the style of tutorials. All
// take turns, so that what else the machine does falls on all alike, and the
// figure is CPU time: the median over the rounds, and the median of each round's
// ratio. It needs Debian's python3-torch, or another Python with PyTorch.
package main
