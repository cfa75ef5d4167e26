// SPDX-License-Identifier: MIT OR Apache-2.0
// One saturated 802.11 cell in ns-3 3.37: n stations and, if asked, the access point send packets of 1500 bytes as fast as the
// channel takes them. Prints one line of CSV. experiments/reference/ns3/README.md describes the set-up, cells.sh builds and runs it.
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <ns3/command-line.h>
#include <ns3/config.h>
#include <ns3/double.h>
#include <ns3/mac48-address.h>
#include <ns3/mobility-helper.h>
#include <ns3/net-device-container.h>
#include <ns3/node-container.h>
#include <ns3/packet-socket-client.h>
#include <ns3/packet-socket-helper.h>
#include <ns3/packet-socket-server.h>
#include <ns3/pointer.h>
#include <ns3/propagation-delay-model.h>
#include <ns3/propagation-loss-model.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/uinteger.h>
#include <ns3/wifi-helper.h>
#include <ns3/wifi-net-device.h>
#include <ns3/wifi-phy.h>
#include <ns3/yans-wifi-channel.h>
#include <ns3/yans-wifi-helper.h>

using namespace ns3;

namespace
{

constexpr uint32_t PACKET_BYTES = 1500;
constexpr double WARMUP_S = 1.0;

struct Amendment
{
    std::string name;
    WifiStandard standard;
    std::string dataMode;
    double dataMbps;
    uint32_t cwMin;
    Time slot;
};

// Packets received by sender, after the warm-up.
std::vector<uint64_t> g_received;

void
OnReceived(std::string context, Ptr<const Packet>, const Address& from)
{
    if (Simulator::Now() < Seconds(WARMUP_S))
    {
        return;
    }
    uint8_t bytes[6];
    Mac48Address::ConvertFrom(PacketSocketAddress::ConvertFrom(from).GetPhysicalAddress()).CopyTo(bytes);
    // Addresses are given in order from 1; the first is the access point's.
    const uint32_t sender = bytes[4] * 256u + bytes[5] - 1;
    g_received.at(sender)++;
}

double g_ackMbps = 0;

// The rate of the ACKs is the manager's choice: learn it from the first short frame.
void
OnSent(Ptr<const Packet> packet, WifiMode mode, WifiPreamble, uint8_t)
{
    if (packet->GetSize() == 14)
    {
        g_ackMbps = mode.GetDataRate(20) / 1e6;
    }
}

void
Send(Ptr<Node> from, Ptr<NetDevice> device, Address to, double packetsPerSecond, double offset)
{
    PacketSocketAddress remote;
    remote.SetSingleDevice(device->GetIfIndex());
    remote.SetPhysicalAddress(to);
    remote.SetProtocol(1);
    auto client = CreateObject<PacketSocketClient>();
    client->SetRemote(remote);
    client->SetAttribute("PacketSize", UintegerValue(PACKET_BYTES));
    client->SetAttribute("MaxPackets", UintegerValue(0));
    client->SetAttribute("Interval", TimeValue(Seconds(1 / packetsPerSecond)));
    client->SetStartTime(Seconds(offset));
    from->AddApplication(client);
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string phyName = "802.11g";
    uint32_t stations = 10;
    bool withAp = false;
    uint32_t seed = 1;
    double seconds = 20;
    CommandLine command(__FILE__);
    command.AddValue("phy", "802.11b, 802.11g or 802.11a", phyName);
    command.AddValue("stations", "stations, the access point not counted", stations);
    command.AddValue("ap", "whether the access point sends too", withAp);
    command.AddValue("seed", "run number", seed);
    command.AddValue("seconds", "measured, after a second of warm-up", seconds);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    const std::vector<Amendment> amendments = {
        {"802.11b", WIFI_STANDARD_80211b, "DsssRate11Mbps", 11, 31, MicroSeconds(20)},
        {"802.11g", WIFI_STANDARD_80211g, "ErpOfdmRate54Mbps", 54, 15, MicroSeconds(9)},
        {"802.11a", WIFI_STANDARD_80211a, "OfdmRate54Mbps", 54, 15, MicroSeconds(9)},
    };
    const Amendment* amendment = nullptr;
    for (const auto& known : amendments)
    {
        amendment = known.name == phyName ? &known : amendment;
    }
    if (!amendment)
    {
        std::cerr << "unknown phy " << phyName << "\n";
        return 2;
    }

    NodeContainer nodes;
    nodes.Create(stations + 1);

    // Everyone hears everyone equally well: no capture, no hidden stations, no noise that matters.
    auto channel = CreateObject<YansWifiChannel>();
    auto loss = CreateObject<FixedRssLossModel>();
    loss->SetRss(-50);
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    // A receiver locks on to what comes, so that it notices frames that collide as damaged and waits EIFS.
    phy.DisablePreambleDetectionModel();
    WifiHelper wifi;
    wifi.SetStandard(amendment->standard);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(amendment->dataMode));
    // No beacons and no association: the access point is the station that is sent to.
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    const std::string device = "/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/";
    Config::Set(device + "Phy/Slot", TimeValue(amendment->slot));
    Config::Set(device + "Mac/Txop/MinCw", UintegerValue(amendment->cwMin));
    Config::Set(device + "Mac/Txop/MaxCw", UintegerValue(1023));

    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    PacketSocketHelper sockets;
    sockets.Install(nodes);
    g_received.assign(stations + 1, 0);
    for (uint32_t i = 0; i <= stations; i++)
    {
        PacketSocketAddress local;
        local.SetSingleDevice(devices.Get(i)->GetIfIndex());
        local.SetProtocol(1);
        auto server = CreateObject<PacketSocketServer>();
        server->SetLocal(local);
        nodes.Get(i)->AddApplication(server);
    }
    // Each sender is given a little more than it could send alone.
    const double packetsPerSecond = amendment->dataMbps * 1e6 / (PACKET_BYTES * 8);
    for (uint32_t i = 1; i <= stations; i++)
    {
        Send(nodes.Get(i), devices.Get(i), devices.Get(0)->GetAddress(), packetsPerSecond, 1e-3 * i);
        if (withAp)
        {
            Send(nodes.Get(0), devices.Get(0), devices.Get(i)->GetAddress(), packetsPerSecond / stations, 1e-3 * i);
        }
    }
    Config::Connect("/NodeList/*/ApplicationList/*/$ns3::PacketSocketServer/Rx", MakeCallback(&OnReceived));
    Config::ConnectWithoutContext(device + "Phy/State/Tx", MakeCallback(&OnSent));

    Simulator::Stop(Seconds(WARMUP_S + seconds));
    Simulator::Run();

    double sum = 0;
    double squares = 0;
    for (uint32_t i = withAp ? 0 : 1; i <= stations; i++)
    {
        sum += g_received[i];
        squares += double(g_received[i]) * g_received[i];
    }
    const double senders = stations + (withAp ? 1 : 0);
    const double mbps = PACKET_BYTES * 8 / 1e6 / seconds;
    std::cout << phyName << ',' << amendment->dataMbps << ',' << g_ackMbps << ',' << stations << ',' << withAp << ',' << seed
              << ',' << seconds << ',' << sum * mbps << ',' << g_received[0] * mbps << ',' << sum * sum / (senders * squares)
              << '\n';
    Simulator::Destroy();
    return 0;
}
