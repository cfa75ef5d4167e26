// SPDX-License-Identifier: MIT OR Apache-2.0
// Reno flows through one queue discipline in ns-3 3.37. Prints one line of CSV: goodput, the mean wait for the link, and the shares of
// packets that the queue dropped and marked. experiments/reference/ns3/README.md describes the set-up, queues.sh builds and runs it.
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <unordered_map>

#include <ns3/boolean.h>
#include <ns3/bulk-send-helper.h>
#include <ns3/command-line.h>
#include <ns3/config.h>
#include <ns3/double.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-global-routing-helper.h>
#include <ns3/node-container.h>
#include <ns3/packet-sink-helper.h>
#include <ns3/packet-sink.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/queue-disc.h>
#include <ns3/random-variable-stream.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/tcp-linux-reno.h>
#include <ns3/traffic-control-helper.h>
#include <ns3/uinteger.h>

using namespace ns3;

// Reno that does not reduce its window again within a given time of the last reduction: `--gap` shows how much such second ones matter.
class SpacedReno : public TcpLinuxReno
{
  public:
    static TypeId GetTypeId()
    {
        static const TypeId id = TypeId("SpacedReno")
                                     .SetParent<TcpLinuxReno>()
                                     .AddConstructor<SpacedReno>()
                                     .AddAttribute("Gap",
                                                   "Between two reductions",
                                                   TimeValue(Seconds(0)),
                                                   MakeTimeAccessor(&SpacedReno::m_gap),
                                                   MakeTimeChecker());
        return id;
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t bytesInFlight) override
    {
        if (m_isReduced && Simulator::Now() - m_last < m_gap)
        {
            return state->m_cWnd;
        }
        m_isReduced = true;
        m_last = Simulator::Now();
        return TcpLinuxReno::GetSsThresh(state, bytesInFlight);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<SpacedReno>(this);
    }

  private:
    Time m_gap;
    Time m_last;
    bool m_isReduced = false;
};

NS_OBJECT_ENSURE_REGISTERED(SpacedReno);

namespace
{

constexpr double RATE_MBPS = 20;
constexpr double RTT_MS = 50;
constexpr double WARMUP_S = 10;
constexpr uint16_t PORT = 5000;
// TCP's payload in a packet of 1500 bytes with timestamps.
constexpr uint32_t SEGMENT_BYTES = 1448;

// From a packet's arrival at the queue until its first bit is sent. Time in the device's own queue counts.
std::unordered_map<uint64_t, Time> g_arrived;
double g_waitedS = 0;
uint64_t g_sent = 0;

void
OnEnqueue(Ptr<const QueueDiscItem> item)
{
    g_arrived[item->GetPacket()->GetUid()] = Simulator::Now();
}

void
OnDrop(Ptr<const QueueDiscItem> item)
{
    g_arrived.erase(item->GetPacket()->GetUid());
}

void
OnTransmit(Ptr<const Packet> packet)
{
    const auto arrived = g_arrived.find(packet->GetUid());
    if (arrived == g_arrived.end())
    {
        return;
    }
    if (Simulator::Now() >= Seconds(WARMUP_S))
    {
        g_waitedS += (Simulator::Now() - arrived->second).GetSeconds();
        g_sent++;
    }
    g_arrived.erase(arrived);
}

struct Counts
{
    uint64_t received = 0;
    uint64_t dropped = 0;
    uint64_t marked = 0;
    uint64_t payload = 0;
};

Counts
Count(Ptr<QueueDisc> queue, const ApplicationContainer& sinks)
{
    const QueueDisc::Stats stats = queue->GetStats();
    Counts counts{stats.nTotalReceivedPackets, stats.nTotalDroppedPackets, stats.nTotalMarkedPackets, 0};
    for (uint32_t i = 0; i < sinks.GetN(); i++)
    {
        counts.payload += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
    }
    return counts;
}

// The disciplines with the parameters that Tandem's scenario sets, too.
std::map<std::string, TrafficControlHelper>
Disciplines(bool ecn)
{
    const auto size = StringValue("1000p");
    const auto useEcn = BooleanValue(ecn);
    std::map<std::string, TrafficControlHelper> all;
    // Wait = false is the spreading of Floyd and Jacobson, 1993.
    all["red"].SetRootQueueDisc("ns3::RedQueueDisc",
                                "MaxSize", size,
                                "UseEcn", useEcn,
                                "MinTh", DoubleValue(30),
                                "MaxTh", DoubleValue(90),
                                "LInterm", DoubleValue(10),
                                "QW", DoubleValue(0.002),
                                "Gentle", BooleanValue(true),
                                "Wait", BooleanValue(false),
                                "MeanPktSize", UintegerValue(1500),
                                "LinkBandwidth", StringValue(std::to_string(RATE_MBPS) + "Mbps"));
    all["codel"].SetRootQueueDisc("ns3::CoDelQueueDisc",
                                  "MaxSize", size,
                                  "UseEcn", useEcn,
                                  "Target", StringValue("5ms"),
                                  "Interval", StringValue("100ms"));
    all["fq_codel"].SetRootQueueDisc("ns3::FqCoDelQueueDisc",
                                     "MaxSize", size,
                                     "UseEcn", useEcn,
                                     "Flows", UintegerValue(1024),
                                     "Target", StringValue("5ms"),
                                     "Interval", StringValue("100ms"));
    // With derandomisation ns-3 forgets its sum of probabilities after a drop only, so it marks one packet after the other.
    all["pie"].SetRootQueueDisc("ns3::PieQueueDisc",
                                "MaxSize", size,
                                "UseEcn", useEcn,
                                "QueueDelayReference", StringValue("15ms"),
                                "Tupdate", StringValue("15ms"),
                                "MaxBurstAllowance", StringValue("150ms"),
                                "MarkEcnThreshold", DoubleValue(0.1),
                                "UseCapDropAdjustment", BooleanValue(true),
                                "UseDerandomization", BooleanValue(false));
    return all;
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string name = "codel";
    uint32_t flows = 2;
    bool ecn = false;
    uint32_t seed = 1;
    double seconds = 50;
    double gap = 0;
    CommandLine command(__FILE__);
    command.AddValue("queue", "red, codel, fq_codel or pie", name);
    command.AddValue("flows", "flows", flows);
    command.AddValue("ecn", "whether flows and queue use ECN", ecn);
    command.AddValue("seed", "run number", seed);
    command.AddValue("seconds", "measured, after the warm-up", seconds);
    command.AddValue("gap", "seconds after a reduction in which the window is not reduced again", gap);
    command.Parse(argc, argv);
    auto disciplines = Disciplines(ecn);
    if (!disciplines.count(name))
    {
        std::cerr << "unknown queue " << name << "\n";
        return 2;
    }
    RngSeedManager::SetRun(seed);

    // RFC 8289 section 5.6: a backlog of one packet is no queue that stands. ns-3 asks for less than MinBytes.
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(1501));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(SpacedReno::GetTypeId()));
    Config::SetDefault("SpacedReno::Gap", TimeValue(Seconds(gap)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT_BYTES));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 23));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 23));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue("200ms"));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(ecn ? "On" : "Off"));

    NodeContainer senders;
    senders.Create(flows);
    NodeContainer routers;
    routers.Create(2);
    Ptr<Node> receiver = CreateObject<Node>();
    InternetStackHelper stack;
    stack.Install(senders);
    stack.Install(routers);
    stack.Install(receiver);

    // The other links are so fast that nothing waits there.
    PointToPointHelper fast;
    fast.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    PointToPointHelper slow;
    slow.SetDeviceAttribute("DataRate", StringValue(std::to_string(RATE_MBPS) + "Mbps"));
    slow.SetChannelAttribute("Delay", StringValue(std::to_string(RTT_MS / 2) + "ms"));
    // Packets wait in the discipline, not in the device.
    slow.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));

    NetDeviceContainer bottleneck = slow.Install(routers);
    // The way back has no queue to speak of.
    DynamicCast<PointToPointNetDevice>(bottleneck.Get(1))->SetDataRate(DataRate("10Gbps"));
    QueueDiscContainer installed = disciplines[name].Install(bottleneck.Get(0));
    NetDeviceContainer last = fast.Install(routers.Get(1), receiver);

    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    address.Assign(bottleneck);
    address.NewNetwork();
    const Ipv4Address to = address.Assign(last).GetAddress(1);

    auto start = CreateObject<UniformRandomVariable>();
    auto extra = CreateObject<UniformRandomVariable>();
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < flows; i++)
    {
        // A flow's RTT is up to 1 ms longer, so that flows do not move in step.
        fast.SetChannelAttribute("Delay", TimeValue(MicroSeconds(extra->GetInteger(0, 500))));
        address.NewNetwork();
        address.Assign(fast.Install(senders.Get(i), routers.Get(0)));
        const InetSocketAddress place(to, PORT + i);
        BulkSendHelper bulk("ns3::TcpSocketFactory", place);
        bulk.SetAttribute("SendSize", UintegerValue(SEGMENT_BYTES));
        bulk.Install(senders.Get(i)).Start(Seconds(start->GetValue(0, 1)));
        sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", place).Install(receiver));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Ptr<QueueDisc> queue = installed.Get(0);
    queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&OnEnqueue));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&OnDrop));
    bottleneck.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&OnTransmit));
    Counts before;
    Simulator::Schedule(Seconds(WARMUP_S), [&] { before = Count(queue, sinks); });
    Simulator::Stop(Seconds(WARMUP_S + seconds));
    Simulator::Run();

    const Counts after = Count(queue, sinks);
    const double arrived = double(after.received - before.received);
    std::cout << name << ',' << ecn << ',' << flows << ',' << seed << ',' << seconds << ','
              << (after.payload - before.payload) * 8e-6 / seconds << ',' << 1e3 * g_waitedS / g_sent << ','
              << (after.dropped - before.dropped) / arrived << ',' << (after.marked - before.marked) / arrived << '\n';
    Simulator::Destroy();
    return 0;
}
