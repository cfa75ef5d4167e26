# SPDX-License-Identifier: MIT OR Apache-2.0
# The standard job (bench/standard.toml) for ns-2, with as little work as it can be done with: no packet headers that are
# not used, no monitors, no traces.
#
#   ns dumbbell.tcl DURATION_S SCHEDULER SEND_DELAY_S ACCESS_LINKS SEED
#
# SCHEDULER: Heap, Calendar or Splay. SEND_DELAY_S: ns-2's overhead_, the largest random delay before each sending.
# ACCESS_LINKS: 1 gives each host a link of its own, 10 Gbit/s and 1 ms, for which ns-2 needs them to give flows unequal
# RTTs; 0 leaves two nodes and one link, the least that ns-2 can do.
# Prints `data_packets N`: packets that the senders know to have arrived.

lassign $argv duration_s scheduler send_delay_s access_links seed

remove-all-packet-headers
add-packet-header IP TCP Flags

# 1448 bytes of payload, 40 of headers, 12 of time stamps: 1500 on the wire.
Agent/TCP set packetSize_ 1448
Agent/TCP set useHeaders_ true
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set ts_option_size_ 12
# Without time stamps ns-2 hands its controllers one RTT sample a round, and compound never starts.
Agent/TCP set timestamps_ true
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink set packetSize_ 52
# By default the window ends at 20 packets.
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 10
Agent/TCP set overhead_ $send_delay_s

ns-random $seed
set chance [new RandomVariable/Uniform]
$chance set min_ 0
$chance set max_ 1

set simulator [new Simulator]
$simulator use-scheduler $scheduler

proc link {from to rate delay_ms queue_packets} {
	global simulator
	$simulator duplex-link $from $to $rate ${delay_ms}ms DropTail
	$simulator queue-limit $from $to $queue_packets
	$simulator queue-limit $to $from $queue_packets
}

# A node for one host on `side`, `delay_ms` away.
proc host {side delay_ms} {
	global simulator access_links
	if {!$access_links} {
		return $side
	}
	set node [$simulator node]
	link $node $side 10Gb $delay_ms 1000000
	return $node
}

set left [$simulator node]
set right [$simulator node]
link $left $right 1Gb [expr {$access_links ? 48 : 50}] 1500

set senders {}
foreach controller {compound compound compound compound reno reno reno reno} {
	set sender [new Agent/TCP/Linux]
	set receiver [new Agent/TCPSink/Sack1]
	$simulator attach-agent [host $left [expr {1 + 0.1 * [$chance value]}]] $sender
	$simulator attach-agent [host $right 1] $receiver
	$simulator connect $sender $receiver
	set source [new Application/FTP]
	$source attach-agent $sender
	$simulator at 0 "$sender select_ca $controller"
	$simulator at [expr {0.1 * [$chance value]}] "$source start"
	lappend senders $sender
}

proc finish {} {
	global senders
	set data_packets 0
	foreach sender $senders {
		incr data_packets [expr {[$sender set ack_] + 1}]
	}
	# ns-2 prints to the same place without ending its line.
	puts "\ndata_packets $data_packets"
	exit 0
}
$simulator at $duration_s finish
$simulator run
